#pragma once

#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace tidemill::cli {

/// Called first in main(). Where standard input, output or error are closed, something takes their place from
/// which nothing can be read and to which nothing can be written, so that no file that is opened later
/// becomes one of them. A closed pipe, and a limit on the size of files, are errors from now on, not signals.
void secure_standard_streams();

/// Writes to standard error, as plain_text(), what people should know. What it does not take is lost: a full
/// disk under the log ends no job.
void tell(std::string_view text) noexcept;

template <class... Parts>
void tell(fmt::format_string<Parts...> text, Parts&&... parts) {
    tell(std::string_view(fmt::format(text, std::forward<Parts>(parts)...)));
}

/// Writes a warning, in one line whatever is in it.
void warn(std::string_view warning) noexcept;

/// For a program that has this one inside: from now on it takes what would be written to standard error.
void hand_messages_to(void (*take)(std::string_view text) noexcept) noexcept;

/// Draws on the terminal that standard error is: the text may move the cursor.
void draw(std::string_view text) noexcept;

/// Writes a result to standard output, as plain_text(). Whether it arrived is reported by flush_results().
void print(std::string_view text) noexcept;

template <class... Parts>
void print(fmt::format_string<Parts...> text, Parts&&... parts) {
    print(std::string_view(fmt::format(text, std::forward<Parts>(parts)...)));
}

/// Writes a report to standard output, or to standard error where the data themselves are on standard output.
void report(std::string_view text, bool data_on_output) noexcept;

/// Hands all results to the system; throws JobFailed unless standard output took everything.
void flush_results();

}  // namespace tidemill::cli
