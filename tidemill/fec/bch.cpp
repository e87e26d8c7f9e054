#include "tidemill/fec/bch.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>

#include "tidemill/fec/internal/bch_remainder.hpp"
#include "tidemill/fec/internal/galois_field.hpp"

namespace tidemill::fec {
namespace {

using Element = GaloisField::Element;

constexpr int kMostErrors = 12;

// S_1 to S_2t at index 0 to 2t - 1.
using Syndromes = std::array<Element, 2 * kMostErrors>;

// Error locator polynomial: coefficient of x^i at index i.
struct Locator {
    std::array<Element, 2 * kMostErrors + 1> sigma{1};
    int errors = 0;
};

// Powers of the positions in error, or count = -1 when there are not as many as the locator promises.
struct Positions {
    std::array<int, kMostErrors> power{};
    int count = 0;
};

// The remainder has the codeword's value at every root of the generator, and only a few bits.
Syndromes syndromes(const GaloisField& field, const BchRemainder::Word& remainder, const Dvbs2Code& code) {
    Syndromes values{};
    for (int bit = 0; bit < code.bch_parity(); ++bit) {
        if (!(remainder[static_cast<std::size_t>(bit / 64)] >> (63 - bit % 64) & 1)) continue;
        const int power = code.bch_parity() - 1 - bit;
        for (int j = 1; j < 2 * code.bch_correctable; j += 2) {
            values[static_cast<std::size_t>(j - 1)] ^= field.exp(power * j % field.order());
        }
    }
    // In a binary code S_2j is the square of S_j.
    for (std::size_t j = 2; j <= 2 * static_cast<std::size_t>(code.bch_correctable); j += 2) {
        values[j - 1] = field.multiply(values[j / 2 - 1], values[j / 2 - 1]);
    }
    return values;
}

Element discrepancy(const GaloisField& field, const Locator& locator, const Syndromes& values, int step) {
    Element sum = values[static_cast<std::size_t>(step)];
    for (int i = 1; i <= locator.errors; ++i) {
        sum ^= field.multiply(locator.sigma[static_cast<std::size_t>(i)],
                              values[static_cast<std::size_t>(step - i)]);
    }
    return sum;
}

// Berlekamp-Massey: the shortest recursion that makes the syndromes.
Locator shortest_locator(const GaloisField& field, const Syndromes& values, int correctable) {
    Locator locator;
    auto previous = locator.sigma;
    Element previous_discrepancy = 1;
    std::size_t shift = 1;
    for (int step = 0; step < 2 * correctable; ++step, ++shift) {
        const Element delta = discrepancy(field, locator, values, step);
        if (delta == 0) continue;
        const auto before = locator.sigma;
        const Element factor = field.divide(delta, previous_discrepancy);
        for (std::size_t i = shift; i < before.size(); ++i) {
            locator.sigma[i] ^= field.multiply(factor, previous[i - shift]);
        }
        if (2 * locator.errors > step) continue;
        locator.errors = step + 1 - locator.errors;
        previous = before;
        previous_discrepancy = delta;
        shift = 0;
    }
    return locator;
}

// sigma = (1 + X1 x)(1 + X2 x); with X = sigma1 y, y^2 + y = sigma2 / sigma1^2.
Positions two_roots(const GaloisField& field, Element sigma1, Element sigma2) {
    if (sigma1 == 0 || sigma2 == 0) return {{}, -1};
    const Element y = field.quadratic_root(field.divide(sigma2, field.multiply(sigma1, sigma1)));
    if (y == 0) return {{}, -1};
    return {{field.log(field.multiply(sigma1, y)), field.log(field.multiply(sigma1, y ^ 1))}, 2};
}

// Chien search over the powers that the shortened code has; logarithms of the terms step by -i per power.
Positions search_roots(const GaloisField& field, const Locator& locator, int length) {
    std::array<int, kMostErrors> term_log{};
    std::array<int, kMostErrors> step{};
    std::size_t terms = 0;
    for (int i = 1; i <= locator.errors; ++i) {
        const Element coefficient = locator.sigma[static_cast<std::size_t>(i)];
        if (coefficient == 0) continue;
        term_log[terms] = field.log(coefficient);
        step[terms++] = i;
    }
    Positions found;
    for (int power = 0; power < length && found.count < locator.errors; ++power) {
        Element sum = 1;
        for (std::size_t i = 0; i < terms; ++i) {
            sum ^= field.exp(term_log[i]);
            term_log[i] -= step[i];
            if (term_log[i] < 0) term_log[i] += field.order();
        }
        if (sum == 0) found.power[static_cast<std::size_t>(found.count++)] = power;
    }
    return found;
}

Positions roots(const GaloisField& field, const Locator& locator, int length) {
    if (locator.errors == 1) return {{field.log(locator.sigma[1])}, 1};
    if (locator.errors == 2) return two_roots(field, locator.sigma[1], locator.sigma[2]);
    return search_roots(field, locator, length);
}

}  // namespace

BchEncoder::BchEncoder(const Dvbs2Code& code)
    : code_(code), remainder_(std::make_shared<BchRemainder>(code)) {}

void BchEncoder::encode(std::span<const std::uint8_t> bbframe, std::span<std::uint8_t> codeword) const {
    assert(bbframe.size() == static_cast<std::size_t>(code_.k_bch / 8));
    assert(codeword.size() == static_cast<std::size_t>(code_.k_ldpc / 8));
    const BchRemainder::Word parity = remainder_->of_message(bbframe);
    std::ranges::copy(bbframe, codeword.begin());
    for (std::size_t i = bbframe.size(); i < codeword.size(); ++i) {
        codeword[i] = BchRemainder::byte(parity, i - bbframe.size());
    }
}

BchDecoder::BchDecoder(const Dvbs2Code& code)
    : code_(code),
      remainder_(std::make_shared<BchRemainder>(code)),
      field_(code.frame_size == FrameSize::normal ? &GaloisField::of_normal_frames()
                                                  : &GaloisField::of_short_frames()) {}

BchResult BchDecoder::decode(std::span<std::uint8_t> codeword) const {
    assert(codeword.size() == static_cast<std::size_t>(code_.k_ldpc / 8));
    const auto message_bytes = static_cast<std::size_t>(code_.k_bch / 8);
    BchRemainder::Word remainder = remainder_->of_message(codeword.first(message_bytes));
    for (std::size_t i = message_bytes; i < codeword.size(); ++i) {
        const std::size_t at = i - message_bytes;
        remainder[at / 8] ^= static_cast<std::uint64_t>(codeword[i]) << (56 - 8 * (at % 8));
    }
    if (remainder == BchRemainder::Word{}) return {true, 0};

    const Syndromes values = syndromes(*field_, remainder, code_);
    const Locator locator = shortest_locator(*field_, values, code_.bch_correctable);
    if (locator.errors > code_.bch_correctable) return {false, 0};
    const Positions found = roots(*field_, locator, code_.k_ldpc);
    if (found.count != locator.errors) return {false, 0};
    const auto powers = std::span(found.power).first(static_cast<std::size_t>(found.count));
    // A position in the part that shortening removed was never sent.
    if (std::ranges::any_of(powers, [&](int power) { return power >= code_.k_ldpc; })) return {false, 0};
    for (const int power : powers) {
        const auto bit = static_cast<std::size_t>(code_.k_ldpc - 1 - power);
        codeword[bit / 8] ^= static_cast<std::uint8_t>(0x80 >> bit % 8);
    }
    return {true, found.count};
}

}  // namespace tidemill::fec
