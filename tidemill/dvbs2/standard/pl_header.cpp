#include "tidemill/dvbs2/standard/pl_header.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace tidemill::dvbs2 {

namespace {

// EN 302 307-1, 5.5.2.4: rows of the biorthogonal (32, 6) generator matrix, and the scrambling word.
constexpr std::array<std::uint32_t, 6> kGenerator{0x55555555, 0x33333333, 0x0F0F0F0F,
                                                  0x00FF00FF, 0x0000FFFF, 0xFFFFFFFF};
constexpr std::uint64_t kPlsScrambling = 0x719D83C953422DFA;

bool bit_of(std::uint64_t word, int width, int i) {
    return (word >> (width - 1 - i) & 1) != 0;
}

// EN 302 307-1, 5.5.2: counted from one, odd symbols lie on the first diagonal, even ones on the second.
Iq pi2_bpsk(bool bit, int index) {
    const float a = bit ? -std::sqrt(0.5F) : std::sqrt(0.5F);
    return index % 2 == 0 ? Iq{a, a} : Iq{-a, a};
}

using Header = std::array<Iq, kHeaderSymbols>;

Header make_header(int code) {
    Header header;
    const std::uint64_t pls = encode_pls(code);
    for (int i = 0; i < kSofSymbols; ++i) {
        header[static_cast<std::size_t>(i)] = pi2_bpsk(bit_of(kSofBits, kSofSymbols, i), i);
    }
    for (int i = 0; i < kPlsSymbols; ++i) {
        const int place = kSofSymbols + i;
        header[static_cast<std::size_t>(place)] = pi2_bpsk(bit_of(pls, kPlsSymbols, i), place);
    }
    return header;
}

using Headers = std::array<Header, 128>;

template <class Change>
Headers make_headers(Change change) {
    Headers all;
    for (std::size_t code = 0; code < all.size(); ++code) {
        all[code] = make_header(static_cast<int>(code));
        std::ranges::transform(all[code], all[code].begin(), change);
    }
    return all;
}

// The 64 PLS symbols with everything but the code words removed, then the 32 sums of their pairs.
struct CodeWords {
    std::array<float, kPlsSymbols> re, im;
};

// Returns the energy of the symbols; NaN and infinity make it useless, and the match with it.
float correlate(std::span<const Iq, kHeaderSymbols> symbols, float frequency, Iq& sof, CodeWords& words) {
    const auto reference = header_references(0);
    const Iq step = std::polar(1.0F, -2 * std::numbers::pi_v<float> * frequency);
    Iq turn{1, 0};
    sof = {};
    float energy = 0;
    for (std::size_t i = 0; i < kHeaderSymbols; ++i) {
        const Iq known{reference[i].real() * turn.real() - reference[i].imag() * turn.imag(),
                       reference[i].real() * turn.imag() + reference[i].imag() * turn.real()};
        const float x = symbols[i].real();
        const float y = symbols[i].imag();
        const Iq product{x * known.real() - y * known.imag(), x * known.imag() + y * known.real()};
        energy += x * x + y * y;
        turn = {turn.real() * step.real() - turn.imag() * step.imag(),
                turn.real() * step.imag() + turn.imag() * step.real()};
        if (i < kSofSymbols) {
            sof += product;
        } else {
            words.re[i - kSofSymbols] = product.real();
            words.im[i - kSofSymbols] = product.imag();
        }
    }
    return energy;
}

CodeWords pair_up(const CodeWords& words, bool pilots) {
    CodeWords sums{};
    const float sign = pilots ? -1.0F : 1.0F;
    for (std::size_t i = 0; i < 32; ++i) {
        sums.re[i] = words.re[2 * i] + sign * words.re[2 * i + 1];
        sums.im[i] = words.im[2 * i] + sign * words.im[2 * i + 1];
    }
    return sums;
}

// Fast Hadamard transform of the first 32 values: the match with every code word of the first five rows. Each
// step transforms by the first bit of the index, which becomes its last (Pease 1968): all steps are alike,
// for vectors, and after five of them each bit is in its place again.
void hadamard(std::array<float, kPlsSymbols>& values) {
    constexpr std::size_t kHalf = 16;
    for (int step = 0; step < 5; ++step) {
        std::array<float, 2 * kHalf> next;
        for (std::size_t i = 0; i < kHalf; ++i) {
            next[2 * i] = values[i] + values[i + kHalf];
            next[2 * i + 1] = values[i] - values[i + kHalf];
        }
        std::ranges::copy(next, values.begin());
    }
}

// Bit r of the transform's index selects row r, which the r-th bit of the code does, most significant first.
int code_of(int index, bool negative, bool pilots) {
    int code = (negative ? 2 : 0) + (pilots ? 1 : 0);
    for (int row = 0; row < 5; ++row) {
        code |= (index >> row & 1) << (6 - row);
    }
    return code;
}

}  // namespace

std::uint64_t encode_pls(int code) {
    std::uint32_t word = 0;
    for (std::size_t row = 0; row < kGenerator.size(); ++row) {
        word ^= (code >> (6 - row) & 1) != 0 ? kGenerator[row] : 0;
    }
    std::uint64_t sent = 0;
    for (int i = 0; i < 32; ++i) {
        const std::uint64_t first = bit_of(word, 32, i) ? 1 : 0;
        sent = sent << 2U | first << 1U | (first ^ static_cast<std::uint64_t>(code & 1));
    }
    return sent ^ kPlsScrambling;
}

std::span<const Iq, kHeaderSymbols> header_symbols(int code) {
    static const Headers kHeaders = make_headers([](Iq symbol) { return symbol; });
    return kHeaders[static_cast<std::size_t>(code & 127)];
}

std::span<const Iq, kHeaderSymbols> header_references(int code) {
    static const Headers kReferences = make_headers([](Iq symbol) { return std::conj(symbol); });
    return kReferences[static_cast<std::size_t>(code & 127)];
}

HeaderMatch match_header(std::span<const Iq, kHeaderSymbols> symbols, float frequency) {
    Iq sof;
    CodeWords words;
    const float energy = correlate(symbols, frequency, sof, words);
    HeaderMatch best;
    float best_power = -1;
    for (int pilots = 0; pilots < 2; ++pilots) {
        CodeWords sums = pair_up(words, pilots == 1);
        hadamard(sums.re);
        hadamard(sums.im);
        for (std::size_t k = 0; k < 32; ++k) {
            const Iq word{sums.re[k], sums.im[k]};
            const Iq plus = sof + word;
            const Iq minus = sof - word;
            const bool negative = std::norm(minus) > std::norm(plus);
            const Iq sum = negative ? minus : plus;
            if (std::norm(sum) > best_power) {
                best_power = std::norm(sum);
                best = {code_of(static_cast<int>(k), negative, pilots == 1), 0, sum};
            }
        }
    }
    best.quality = energy > 0 ? best_power / (kHeaderSymbols * energy) : 0;
    return best;
}

}  // namespace tidemill::dvbs2
