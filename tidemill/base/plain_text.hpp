#pragma once

#include <string>
#include <string_view>

namespace tidemill::cli {

/// A text that may come from outside as it can be shown: characters that a terminal would obey (control
/// characters but line ends and tabs, and what turns the direction of writing) and bytes outside UTF-8 stand
/// there as \xNN.
std::string plain_text(std::string_view text);

/// The same in one line: line ends and tabs stand there as \xNN, too.
std::string plain_line(std::string_view text);

}  // namespace tidemill::cli
