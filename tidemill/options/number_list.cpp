#include "tidemill/options/number_list.hpp"

#include <algorithm>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/io/files/number_text.hpp"

namespace tidemill::cli {

namespace {

constexpr double kMostNumbers = 10000;

[[noreturn]] void refuse_list(const std::string& text, const std::string& option) {
    throw WrongUsage(
        fmt::format("{} {}: give numbers like 1,2.5 or first:step:last like 0:0.5:3", option, text));
}

void check_count(double count, const std::string& text, const std::string& option) {
    if (count > kMostNumbers)
        throw WrongUsage(fmt::format("{} {}: these are more than {} numbers", option, text, kMostNumbers));
}

std::vector<std::string> parts_of(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
    return parts;
}

double number_of(const std::string& text, const std::string& option) {
    const std::optional<double> number = io::real_number(text);
    if (!number) refuse_list(text, option);
    return *number;
}

}  // namespace

std::vector<double> number_list(const std::string& text, const std::string& option) {
    std::vector<double> numbers;
    for (const std::string& item : parts_of(text, ',')) {
        const auto range = parts_of(item, ':');
        if (range.size() != 1 && range.size() != 3) refuse_list(text, option);
        const double first = number_of(range.front(), option);
        const double step = range.size() == 3 ? number_of(range[1], option) : 1;
        const double steps = (number_of(range.back(), option) - first) / step;
        if (!(steps >= 0)) refuse_list(text, option);
        check_count(steps + 1, text, option);
        // A step may miss the last number by its rounding.
        for (int i = 0; i <= static_cast<int>(steps + 1e-6); ++i) numbers.push_back(first + i * step);
        check_count(static_cast<double>(numbers.size()), text, option);
    }
    if (numbers.empty()) refuse_list(text, option);
    return numbers;
}

std::array<double, 3> few_numbers(const std::string& text, const std::string& option, std::size_t least,
                                  std::size_t most) {
    const std::vector<double> numbers = number_list(text, option);
    if (numbers.size() < least || numbers.size() > most) {
        throw WrongUsage(fmt::format("{} {}: give {} numbers, with commas between them", option, text,
                                     most == 2    ? "two"
                                     : least == 3 ? "three"
                                                  : "two or three"));
    }
    std::array<double, 3> few{};
    std::ranges::copy(numbers, few.begin());
    return few;
}

}  // namespace tidemill::cli
