#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace tidemill::steer::internal {

/// A number that is all of a text; nothing for anything else.
template <class Number>
std::optional<Number> whole_number(std::string_view text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

/// The words of a text, taken one after the other.
class Words {
  public:
    explicit Words(std::string_view text) : left_(text) {}

    /// Empty when there are no more.
    std::string_view next() {
        left_.remove_prefix(std::min(left_.find_first_not_of(" \n"), left_.size()));
        const std::string_view word = left_.substr(0, left_.find_first_of(" \n"));
        left_.remove_prefix(word.size());
        return word;
    }
    void skip(int words) {
        while (words-- > 0) next();
    }
    template <class Number>
    std::optional<Number> number() {
        return whole_number<Number>(next());
    }

  private:
    std::string_view left_;
};

}  // namespace tidemill::steer::internal
