#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/fec/dvbs2_code.hpp"

namespace tidemill::fec {

/// Division by the generator polynomial of one BCH code (EN 302 307-1, 5.3.1), by tables.
class BchRemainder {
  public:
    /// Polynomial of degree below 192, highest power of the code's parity first, at the top bit of word 0.
    using Word = std::array<std::uint64_t, 3>;

    explicit BchRemainder(const Dvbs2Code& code);

    /// The remainder of message(x) x^parity; packed bytes.
    Word of_message(std::span<const std::uint8_t> message) const;

    static constexpr std::uint8_t byte(const Word& word, std::size_t index) {
        return static_cast<std::uint8_t>(word[index / 8] >> (56 - 8 * (index % 8)));
    }

  private:
    using Table = std::array<Word, 256>;
    /// Entry [i][bits]: what half byte i of a remainder becomes, put before a stretch of a message.
    using Carried = std::array<std::array<Word, 16>, 2 * sizeof(Word)>;

    void make_carried(int parity, const Word& divisor);
    Word after_eight_bytes(const Word& remainder, const std::uint8_t* bytes) const;
    Word carried(const Word& remainder) const;
    Word of_short_message(std::span<const std::uint8_t> message) const;

    /// Entry [i][byte]: the remainder of that byte followed by i more bytes.
    std::vector<Table> tables_;
    /// Stretches of a message, of so many bytes, whose remainders are worked out side by side.
    std::size_t stretch_bytes_;
    Carried carried_{};
};

}  // namespace tidemill::fec
