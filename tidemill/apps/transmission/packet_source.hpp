#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace tidemill::cli {

/// Transport stream packets to send: those of a file, once or again and again, or made-up ones.
class PacketSource {
  public:
    /// Whole packets, sent `repeats` times.
    PacketSource(std::vector<std::uint8_t> packets, std::uint64_t repeats);

    /// `count` packets of one program with random payload; a seed gives the same packets everywhere.
    static PacketSource random(std::uint64_t count, std::uint64_t seed);

    /// The next packets, some dozens at a time; empty at the end. Valid until the next call.
    std::span<const std::uint8_t> next();

  private:
    std::span<const std::uint8_t> next_of_file();
    std::span<const std::uint8_t> next_random();

    std::vector<std::uint8_t> packets_;
    std::uint64_t left_;  // repeats of the file, or random packets
    std::size_t offset_ = 0;
    bool is_random_ = false;
    std::mt19937_64 generator_;
    std::uint8_t continuity_ = 0;
};

}  // namespace tidemill::cli
