#pragma once

#include <concepts>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tidemill/io/files/number_text.hpp"
#include "tidemill/io/files/standard_stream.hpp"

namespace tidemill::cli {

/// Kind of value that an option takes. A place is a file, "-" for the standard stream or udp://host:port.
enum class Kind {
    flag,
    whole,
    real,
    seconds,
    choice,
    text,
    input_file,
    input_place,
    output_file,
    output_place
};

/// The numbers that an option takes.
struct Range {
    double least = -std::numeric_limits<double>::infinity();
    double most = std::numeric_limits<double>::infinity();
    bool least_itself = true;

    bool holds(double number) const;
    /// "from 1 to 64", "above 0"; empty when any number will do.
    std::string text() const;
};

inline Range above(double least) {
    return {.least = least, .least_itself = false};
}
inline Range at_least(double least) {
    return {.least = least};
}
inline Range between(double least, double most) {
    return {.least = least, .most = most};
}

/// "auto", or a value that the user knows better.
template <class T>
struct OrAuto {
    std::optional<T> value{};

    bool is_auto() const { return !value; }
};

using io::is_standard_stream;

/// One option of a verb, as data: what it is called, what it takes, and what was given.
class Option {
  public:
    /// Reads a value into the variable that the option sets; throws WrongUsage.
    using Store = std::function<void(const Option&, const std::string&)>;

    /// `names` like "-o,--output"; without a dash for one that is known by its place.
    Option(std::string its_names, std::string its_help, std::string its_heading, Kind its_kind, Store store)
        : names(std::move(its_names)),
          help(std::move(its_help)),
          heading(std::move(its_heading)),
          kind(its_kind),
          store_(std::move(store)) {}

    // How a verb declares more of it.
    Option& in(Range wanted);
    Option& is(Kind what);
    Option& required();
    /// Networks that a place may name beside files, by what stands before "://" (or "tun:").
    Option& networks(std::vector<std::string_view> schemes);
    /// Without a value it is as if this one were given.
    Option& optional_value(std::string value);
    /// The word "auto" leaves the variable empty.
    Option& or_auto();
    Option& excludes(std::string other);
    Option& needs(std::string other);
    /// An output that goes to more places than the one it names.
    Option& also_writes(std::function<std::vector<std::string>(const std::string& place)> more);
    /// Text for the help instead of the variable's first value.
    Option& shows(std::string text);
    /// Name of its value in the help, as HZ.
    Option& called(std::string value);
    /// Marks one that most people need: -h shows these alone, where a verb has any.
    Option& common();

    /// Name for messages: "--output".
    std::string name() const;
    bool is_positional() const { return !names.starts_with('-'); }
    bool is_input() const { return kind == Kind::input_file || kind == Kind::input_place; }
    bool is_output() const { return kind == Kind::output_file || kind == Kind::output_place; }
    /// Description of its values, as a sentence goes on: "a whole number from 1 to 64".
    std::string allowed() const;

    bool is_given() const { return !given.empty(); }
    /// Keeps a text that the user gave; throws WrongUsage for an empty one.
    void give(const std::string& text);
    /// Reads what was given into the variable; throws WrongUsage, or what the reader of a file throws.
    void read() const;
    /// Whether a text leaves the choice to the program.
    bool is_auto(const std::string& text) const;
    /// Throws WrongUsage with the option, the text and what is allowed.
    [[noreturn]] void refuse(const std::string& text) const;

    std::string names;
    std::string help;
    std::string heading;
    Kind kind;
    Range range{};
    std::vector<std::string> choices{};
    std::string default_text{};
    std::string value_name{};  ///< empty: that of its kind
    bool is_common = false;
    bool is_required = false;
    bool is_repeatable = false;
    bool takes_auto = false;
    std::string alone{};  ///< the value where none is given; empty: one must be
    std::vector<std::string_view> schemes{};
    std::vector<std::string> excluded{};
    std::vector<std::string> needed{};
    std::vector<std::string> given{};
    std::function<std::vector<std::string>(const std::string&)> more_places{};

  private:
    Store store_;
};

/// How the text of an option becomes a value of each type.
template <class T>
struct ValueText;

template <class T>
requires(std::integral<T> && !std::same_as<T, bool>) struct ValueText<T> {
    static constexpr Kind kKind = Kind::whole;
    static T read(const Option& option, const std::string& text) {
        const auto number = io::whole_number<T>(text);
        if (!number || !option.range.holds(static_cast<double>(*number))) option.refuse(text);
        return *number;
    }
};

template <std::floating_point T>
struct ValueText<T> {
    static constexpr Kind kKind = Kind::real;
    static T read(const Option& option, const std::string& text) {
        const auto number = option.kind == Kind::seconds ? io::seconds_in(text) : io::real_number(text);
        if (!number || !option.range.holds(*number)) option.refuse(text);
        return static_cast<T>(*number);
    }
};

template <>
struct ValueText<std::string> {
    static constexpr Kind kKind = Kind::text;
    static std::string read(const Option&, const std::string& text) { return text; }
};

template <class T>
struct ValueText<OrAuto<T>> {
    static constexpr Kind kKind = ValueText<T>::kKind;
    static OrAuto<T> read(const Option& option, const std::string& text) {
        if (option.is_auto(text)) return {};
        return {ValueText<T>::read(option, text)};
    }
};

template <class T>
struct ValueText<std::optional<T>> {
    static constexpr Kind kKind = ValueText<T>::kKind;
    static std::optional<T> read(const Option& option, const std::string& text) {
        return ValueText<T>::read(option, text);
    }
};

template <class T>
inline constexpr bool kTakesAuto = false;
template <class T>
inline constexpr bool kTakesAuto<OrAuto<T>> = true;
template <class T>
inline constexpr bool kTakesAuto<std::optional<T>> = kTakesAuto<T>;

/// The first values of variables, as the help shows them.
std::string default_text(double value);
std::string default_text(float value);
std::string default_text(const std::string& value);
template <std::integral T>
std::string default_text(T value) {
    return std::to_string(value);
}
template <class T>
std::string default_text(const std::vector<T>&) {
    return {};
}
template <class T>
std::string default_text(const std::optional<T>& value) {
    return value ? default_text(*value) : std::string();
}
template <class T>
std::string default_text(const OrAuto<T>& value) {
    return value.value ? default_text(*value.value) : "auto";
}

}  // namespace tidemill::cli
