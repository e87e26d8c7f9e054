#include "tidemill/fec/internal/bch_remainder.hpp"

#include "tidemill/fec/internal/big_endian.hpp"

namespace tidemill::fec {
namespace {

using Word = BchRemainder::Word;

// EN 302 307-1, tables 6a and 6b: minimal polynomials g1 to g12, bit i the coefficient of x^i.
constexpr std::uint32_t kNormalPolynomials[12] = {0x1002D, 0x10173, 0x10FBD, 0x15A55, 0x11F2F, 0x1F7B5,
                                                  0x1AF65, 0x17367, 0x10EA1, 0x175A7, 0x13A2D, 0x11AE3};
constexpr std::uint32_t kShortPolynomials[12] = {0x402B, 0x4941, 0x4647, 0x5591, 0x6B55, 0x6389,
                                                 0x6CE5, 0x4F21, 0x460F, 0x5A49, 0x5811, 0x65EF};

Word shifted_left(const Word& word, int bits) {
    return {word[0] << bits | word[1] >> (64 - bits), word[1] << bits | word[2] >> (64 - bits),
            word[2] << bits};
}

constexpr std::size_t kBytesAtOnce = 8;

// Each waits for its own table look-ups only.
constexpr std::size_t kStretches = 4;

void add(Word& sum, const Word& term) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] ^= term[i];
}

// The generator without its leading term, which the division never needs.
Word generator(const Dvbs2Code& code) {
    const auto& polynomials = code.frame_size == FrameSize::normal ? kNormalPolynomials : kShortPolynomials;
    const int degree = code.frame_size == FrameSize::normal ? 16 : 14;
    std::vector<bool> product = {true};
    for (int factor = 0; factor < code.bch_correctable; ++factor) {
        std::vector<bool> next(product.size() + static_cast<std::size_t>(degree));
        for (std::size_t i = 0; i < product.size(); ++i) {
            for (int bit = 0; bit <= degree && product[i]; ++bit) {
                if (polynomials[factor] >> bit & 1) next[i + static_cast<std::size_t>(bit)].flip();
            }
        }
        product = std::move(next);
    }
    Word aligned{};
    for (std::size_t i = 1; i < product.size(); ++i) {
        const std::uint64_t coefficient = product[product.size() - 1 - i];
        aligned[(i - 1) / 64] |= coefficient << (63 - (i - 1) % 64);
    }
    return aligned;
}

Word times_x(const Word& remainder, const Word& divisor) {
    Word product = shifted_left(remainder, 1);
    if (remainder[0] >> 63) add(product, divisor);
    return product;
}

}  // namespace

BchRemainder::BchRemainder(const Dvbs2Code& code)
    : tables_(kBytesAtOnce),
      stretch_bytes_(static_cast<std::size_t>(code.k_bch / 8) / kStretches / kBytesAtOnce * kBytesAtOnce) {
    const Word divisor = generator(code);
    for (std::uint64_t byte = 0; byte < 256; ++byte) {
        Word remainder = {byte << 56, 0, 0};
        for (int bit = 0; bit < 8; ++bit) remainder = times_x(remainder, divisor);
        tables_[0][byte] = remainder;
    }
    for (std::size_t i = 1; i < kBytesAtOnce; ++i) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const Word& before = tables_[i - 1][byte];
            tables_[i][byte] = shifted_left(before, 8);
            add(tables_[i][byte], tables_[0][before[0] >> 56]);
        }
    }
    make_carried(code.bch_parity(), divisor);
    // x^192 is what a message is multiplied by.
    const auto power = [&](std::size_t bytes) {
        std::vector<std::uint8_t> one(bytes + 1);
        one[0] = 1;
        return of_short_message(one);
    };
    powers_ = {power(8), power(16)};
}

// Remainder of a stretch for the lowest power, times x for each of the others.
void BchRemainder::make_carried(int parity, const Word& divisor) {
    constexpr std::size_t kBits = 8 * sizeof(Word);
    const auto lowest = static_cast<std::size_t>(parity) - 1;
    std::array<Word, kBits> rows{};
    rows[lowest][lowest / 64] = std::uint64_t{1} << (63 - lowest % 64);
    constexpr std::array<std::uint8_t, kBytesAtOnce> kZeros{};
    for (std::size_t at = 0; at < stretch_bytes_; at += kBytesAtOnce)
        rows[lowest] = after_eight_bytes(rows[lowest], kZeros.data());
    for (std::size_t bit = lowest; bit-- > 0;) rows[bit] = times_x(rows[bit + 1], divisor);
    for (std::size_t bit = 0; bit < kBits; ++bit) {
        const std::size_t weight = std::size_t{8} >> bit % 4;
        for (std::size_t value = 0; value < carried_[0].size(); ++value)
            if (value & weight) add(carried_[bit / 4][value], rows[bit]);
    }
}

Word BchRemainder::after_eight_bytes(const Word& remainder, const std::uint8_t* bytes) const {
    const std::uint64_t top = remainder[0] ^ big_endian(bytes);
    Word next = {remainder[1], remainder[2], 0};
    for (std::size_t i = 0; i < kBytesAtOnce; ++i) add(next, tables_[i][top >> 8 * i & 0xFF]);
    return next;
}

// Remainder of what comes before a stretch.
Word BchRemainder::carried(const Word& remainder) const {
    Word sum{};
    for (std::size_t i = 0; i < carried_.size(); ++i)
        add(sum, carried_[i][remainder[i / 16] >> (60 - 4 * (i % 16)) & 0xF]);
    return sum;
}

Word BchRemainder::of_short_message(std::span<const std::uint8_t> message) const {
    Word remainder{};
    const std::size_t odd_bytes = message.size() % kBytesAtOnce;
    for (const std::uint8_t next : message.first(odd_bytes)) {
        const Word& folded = tables_[0][remainder[0] >> 56 ^ next];
        remainder = shifted_left(remainder, 8);
        add(remainder, folded);
    }
    for (std::size_t at = odd_bytes; at < message.size(); at += kBytesAtOnce)
        remainder = after_eight_bytes(remainder, message.data() + at);
    return remainder;
}

Word BchRemainder::of_message(std::span<const std::uint8_t> message) const {
    std::array<std::uint8_t, kFoldedBytes> folded;
    if (message.size() < kFoldedBytes || !fold(message, powers_, folded)) return by_tables(message);
    return of_short_message(folded);
}

Word BchRemainder::by_tables(std::span<const std::uint8_t> message) const {
    const std::size_t in_stretches = kStretches * stretch_bytes_;
    if (message.size() < in_stretches) return of_short_message(message);
    const auto stretches = message.last(in_stretches);
    std::array<Word, kStretches> remainders{of_short_message(message.first(message.size() - in_stretches))};
    for (std::size_t at = 0; at < stretch_bytes_; at += kBytesAtOnce) {
        for (std::size_t i = 0; i < kStretches; ++i)
            remainders[i] = after_eight_bytes(remainders[i], &stretches[i * stretch_bytes_ + at]);
    }
    Word all = remainders[0];
    for (std::size_t i = 1; i < kStretches; ++i) {
        all = carried(all);
        add(all, remainders[i]);
    }
    return all;
}

}  // namespace tidemill::fec
