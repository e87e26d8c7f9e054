#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace tidemill::cli {

/// Reads "1,2.5" and "0:0.5:3" (first, step, last), in any mixture, numbers as real_number() does; `option`
/// names itself in the WrongUsage that malformed, endless and empty lists throw.
std::vector<double> number_list(const std::string& text, const std::string& option);

/// Two numbers or three, as `least` and `most` say; the third is 0 where it is left out. Throws WrongUsage.
std::array<double, 3> few_numbers(const std::string& text, const std::string& option, std::size_t least,
                                  std::size_t most);

}  // namespace tidemill::cli
