#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

#include "tidemill/scheduling/dynamic/policy.hpp"

namespace tidemill::bridge {

/// Basis of a factor.
enum class Quality : std::uint8_t {
    absent,     ///< nothing: its value is 1, which says nothing
    estimated,  ///< what is known of other tasks or kinds, or a few calls
    measured,
};

const char* to_string(Quality quality);

/// How many times longer a task takes on a kind of core than on the reference kind.
struct Factor {
    double value = 1;
    Quality quality = Quality::absent;
    std::uint32_t version = 0;  ///< of the matrix when it was written
};

/// A factor for each task type and kind of core. One thread writes; any thread reads without waiting, and
/// sees value, quality and version as they were written together.
class FactorMatrix {
  public:
    FactorMatrix(std::size_t types, std::size_t kinds) : kinds_(kinds), entries_(types * kinds) {}

    /// Factor of a task type and kind; absent beyond the matrix.
    Factor read(policy::TaskTypeId type, policy::KindId kind) const {
        const std::size_t at = type * kinds_ + kind;
        if (kind >= kinds_ || at >= entries_.size()) return {};
        return unpacked(entries_[at].load(std::memory_order_relaxed));
    }

    /// How often factors were written. A factor's age is this less its own version.
    std::uint32_t version() const { return version_.load(std::memory_order_relaxed); }

    void begin_version() { version_.store(version() + 1, std::memory_order_relaxed); }
    void write(policy::TaskTypeId type, policy::KindId kind, double value, Quality quality) {
        const std::size_t at = type * kinds_ + kind;
        if (at < entries_.size())
            entries_[at].store(packed({value, quality, version()}), std::memory_order_relaxed);
    }

  private:
    static constexpr std::uint64_t kVersions = (std::uint64_t{1} << 30) - 1;

    static std::uint64_t packed(const Factor& factor) {
        const auto value = std::bit_cast<std::uint32_t>(static_cast<float>(factor.value));
        return std::uint64_t{value} << 32 | (factor.version & kVersions) << 2 |
               static_cast<std::uint64_t>(factor.quality);
    }
    static Factor unpacked(std::uint64_t entry) {
        if ((entry & 3) == 0) return {};
        return {std::bit_cast<float>(static_cast<std::uint32_t>(entry >> 32)),
                static_cast<Quality>(entry & 3), static_cast<std::uint32_t>(entry >> 2 & kVersions)};
    }

    std::size_t kinds_;
    std::vector<std::atomic<std::uint64_t>> entries_;  // [type x kinds + kind]
    std::atomic<std::uint32_t> version_{0};
};

}  // namespace tidemill::bridge
