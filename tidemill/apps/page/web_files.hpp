#pragma once

#include <span>
#include <string_view>

namespace tidemill::page {

/// A file of the page, as it lies in the program.
struct WebFile {
    const char* path;  ///< of its address: "/page.js"
    const char* type;  ///< "text/javascript"
    std::string_view text;
};

/// Those of web/, which CMake puts into the program.
std::span<const WebFile> web_files();

}  // namespace tidemill::page
