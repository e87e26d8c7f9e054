#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tidemill/fec/dvbs2_code.hpp"
#include "tidemill/fec/internal/polynomial_fold.hpp"

namespace tidemill::fec {

/// Division by the generator polynomial of one BCH code (EN 302 307-1, 5.3.1): a message is folded where the
/// processor can, the rest is done by tables.
class BchRemainder {
  public:
    /// The highest power of the code's parity is at the top bit of word 0.
    using Word = Word192;

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
    Word by_tables(std::span<const std::uint8_t> message) const;
    Word of_short_message(std::span<const std::uint8_t> message) const;

    /// Entry [i][byte]: the remainder of that byte followed by i more bytes.
    std::vector<Table> tables_;
    /// Stretches of a message, of so many bytes, whose remainders are worked out side by side.
    std::size_t stretch_bytes_;
    Carried carried_{};
    FoldingPowers powers_{};
};

}  // namespace tidemill::fec
