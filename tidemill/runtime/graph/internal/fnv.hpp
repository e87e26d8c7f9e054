#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <fmt/format.h>

namespace tidemill::internal {

/// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/: distinguishes texts, but not against forgers.
class Fnv {
  public:
    void add(std::string_view text) {
        for (const char each : text) add_byte(static_cast<unsigned char>(each));
        add_byte(0);
    }
    void add(std::uint64_t number) { add(fmt::format("{}", number)); }
    void add(std::span<const std::byte> bytes) {
        for (const std::byte each : bytes) add_byte(static_cast<unsigned char>(each));
    }

    /// As 16 hexadecimal digits.
    std::string text() const { return fmt::format("{:016x}", value_); }

  private:
    void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3ull; }

    std::uint64_t value_ = 0xcbf29ce484222325ull;
};

}  // namespace tidemill::internal
