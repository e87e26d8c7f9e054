#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tidemill/runtime/graph/socket.hpp"

namespace tidemill {

/// The values that a knob takes, both ends included.
struct Range {
    double least = -std::numeric_limits<double>::infinity();
    double most = std::numeric_limits<double>::infinity();
};

/// Facts of a knob besides its socket: immutable, shared by all copies of its module.
struct KnobInfo {
    Range range;
    std::vector<std::byte> initial;
    double (*number)(const std::byte* element);        ///< what an element is
    bool (*write)(double number, std::byte* element);  ///< false where the type has no such number
};

/// A socket of a module whose value comes from outside while the stream runs: `f[gain]` is the value under
/// which the frame began. T is a number, or a vector of numbers whose length stays.
template <class T>
struct Knob {
    const Module* module = nullptr;
    std::uint32_t index = 0;
    std::uint32_t count = 0;
};

namespace internal {

template <class T>
struct KnobElement {
    using Type = T;
};
template <class T>
struct KnobElement<std::vector<T>> {
    using Type = T;
};

/// Numbers that a double holds exactly, so that a text can say them.
template <class T>
inline constexpr bool kIsKnobNumber = std::is_floating_point_v<T> ? sizeof(T) <= sizeof(double)
                                                                  : std::is_integral_v<T> && sizeof(T) <= 4;

template <class T>
double knob_number(const std::byte* element) {
    T value;
    std::memcpy(&value, element, sizeof(T));
    return static_cast<double>(value);
}

template <class T>
bool write_knob_number(double number, std::byte* element) {
    const bool fits = number >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
                      number <= static_cast<double>(std::numeric_limits<T>::max());
    if (!fits) return false;
    if constexpr (std::is_integral_v<T>) {
        if (number != static_cast<double>(static_cast<T>(number))) return false;
    }
    const T value = static_cast<T>(number);
    std::memcpy(element, &value, sizeof(T));
    return true;
}

template <class T>
std::vector<std::byte> knob_bytes(std::span<const T> values) {
    std::vector<std::byte> bytes(values.size_bytes());
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}
template <class T>
std::vector<std::byte> knob_bytes(const T& value) {
    return knob_bytes(std::span<const T>(&value, 1));
}
template <class T>
std::vector<std::byte> knob_bytes(const std::vector<T>& values) {
    return knob_bytes(std::span<const T>(values));
}

template <class T>
KnobInfo knob_info(const T& initial, Range range) {
    using Number = typename KnobElement<T>::Type;
    static_assert(
        kIsKnobNumber<Number> && !std::is_same_v<T, std::vector<bool>>,
        "a knob is a float, a double, a bool or an integer of at most 32 bits, or a vector of them");
    return {range, knob_bytes(initial), &knob_number<Number>, &write_knob_number<Number>};
}

}  // namespace internal

/// A new value for one knob.
struct KnobSetting {
    SocketRef knob;
    std::vector<std::byte> bytes;  ///< of all its elements
};

/// The source frame from which on a setting holds.
struct From {
    std::uint64_t frame;
};

/// New values for some knobs, which change on one frame: `KnobSettings(amp.gain, 2.0f, rx.taps, taps)`, and
/// `From{1000}` behind them where that frame is not to be the next one.
struct KnobSettings {
    KnobSettings() = default;
    template <class T, class... Rest>
    explicit KnobSettings(const Knob<T>& knob, const std::type_identity_t<T>& value, const Rest&... rest) {
        add(knob, value, rest...);
    }

    std::vector<KnobSetting> settings{};
    std::optional<From> from{};

  private:
    template <class T, class... Rest>
    void add(const Knob<T>& knob, const std::type_identity_t<T>& value, const Rest&... rest) {
        settings.push_back({{knob.module, knob.index}, internal::knob_bytes(value)});
        add(rest...);
    }
    void add(From when) { from = when; }
    void add() {}
};

/// First frame for which a task's value of a knob holds: so many behind the one on which it sets it.
struct Tell {
    std::uint64_t after;
};

namespace internal {

/// Receiver of knobs that tasks set; made by executors.
class KnobTeller {
  public:
    /// For a task on `frame`, as it sees numbers. Throws GraphError for a value that cannot be set.
    virtual void tell(const KnobSettings& settings, std::uint64_t frame, Tell when) = 0;

  protected:
    ~KnobTeller() = default;
};

}  // namespace internal

/// The frame at which a setting of knobs begins to hold.
struct SetAt {
    std::uint64_t frame;
    bool late;  ///< the frame that was asked for had begun already: it is this one instead
};

/// Throws GraphError for what a knob cannot be set to: no number, out of its range, or another length.
void check_knob(const Module& module, std::uint32_t socket, std::span<const std::byte> bytes);

/// The numbers that make up a value of a knob.
std::vector<double> numbers_of(const SocketInfo& knob, std::span<const std::byte> bytes);

/// The value that these numbers make up; throws GraphError for another length, and for what the type of the
/// knob or its range does not have.
std::vector<std::byte> bytes_of_numbers(const Module& module, std::uint32_t socket,
                                        std::span<const double> numbers);

}  // namespace tidemill
