#pragma once

#include <string>
#include <string_view>

namespace tidemill::page {

/// The page in one file that shows `data`, JSON of a whole run: it opens anywhere, and loads nothing.
std::string report_file(std::string_view data);

}  // namespace tidemill::page
