#include "tidemill/dvbs2/search/vl_snr_look.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <vector>

#include "tidemill/dsp/pulse.hpp"
#include "tidemill/dvbs2/standard/vl_snr_header.hpp"

namespace tidemill::dvbs2 {

namespace {

using dsp::Iq;

constexpr std::size_t kHeaderBits = kVlSnrRows * kVlSnrRowSymbols;
constexpr int kMatchedSymbols = 8;  // to each side

// Powers of correlations over those that noise alone has in the mean. The rows' sum of noise exceeds its
// limit at one of 10^8 places, the whole header's with probability exp(-45) for each of some hundred tries; a
// signal at -9.9 dB has 60 and 64 with half a sample and half a step of frequency lost, 107 and 91 without.
constexpr float kRowsLimit = 50, kHeaderLimit = 45;

// Headers whose signs differ in every other row differ by half a cycle a row: only the row itself
// distinguishes them from a carrier that is off by so much. Halves of rows add up at frequencies of 1/128
// cycle a half from each other, up to 1/4 to either side, which is 0.009 cycles per symbol.
constexpr std::size_t kHalves = 2 * kVlSnrRows, kHalfSymbols = kVlSnrRowSymbols / 2;
constexpr std::size_t kFrequencies = 128, kMostFrequency = kFrequencies / 4;
constexpr std::size_t kVlHeadersThatConvince = 2;
constexpr std::size_t kBlock = 512;  // places at once

// As it is received best: through the filter that it was sent through.
std::vector<Iq> matched(std::span<const Iq> samples, double rolloff) {
    std::array<float, 4 * kMatchedSymbols + 1> taps{};
    for (std::size_t k = 0; k < taps.size(); ++k)
        taps[k] = static_cast<float>(
            dsp::root_raised_cosine(static_cast<double>(k) / 2 - kMatchedSymbols, rolloff));
    std::vector<Iq> out(samples.size() < taps.size() ? 0 : samples.size() - taps.size() + 1);
    for (std::size_t n = 0; n < out.size(); ++n) {
        Iq sum{};
        for (std::size_t k = 0; k < taps.size(); ++k) sum += taps[k] * samples[n + k];
        out[n] = sum;
    }
    return out;
}

// Every other sample, turned back by a quarter from each to the next: so pi/2-BPSK becomes real but for a
// phase that all have in common. Behind the last there are zeros, so that any block of places can be looked
// through.
struct Strobes {
    std::vector<float> re, im;
    std::vector<double> energy{0};  // of all before

    Strobes(std::span<const Iq> samples, std::size_t first, bool inverted) {
        constexpr std::array<Iq, 4> kBack{Iq(1, 0), Iq(0, -1), Iq(-1, 0), Iq(0, 1)};
        for (std::size_t n = first; n < samples.size(); n += 2) {
            const Iq sample = (inverted ? std::conj(samples[n]) : samples[n]) * kBack[re.size() % 4];
            re.push_back(sample.real());
            im.push_back(sample.imag());
            energy.push_back(energy.back() + std::norm(std::complex<double>(sample)));
        }
        re.resize(re.size() + kBlock);
        im.resize(im.size() + kBlock);
    }

    std::size_t places() const { return energy.size() < kHeaderBits + 1 ? 0 : energy.size() - kHeaderBits; }
};

// Symbols of a row's bits by that turn: pi/2-BPSK turns forth and back, and turned back always, two of four
// symbols are upside down.
float row_symbol(std::size_t row, std::size_t k) {
    const bool bit = (kVlSnrRowBits[row] >> (kVlSnrRowSymbols - 1 - k) & 1) != 0;
    return bit != (k % 4 >= 2) ? -1.0F : 1.0F;
}

using HalfSums = std::array<Iq, kHalves>;

/// Correlations of all halves of rows with the symbols from each place of a block on.
class HeaderCorrelation {
  public:
    HeaderCorrelation(const Strobes& sampling_instants, std::size_t first) {
        for (std::size_t half = 0; half < kHalves; ++half) {
            re_[half] = sums_of(half, sampling_instants.re.data() + first);
            im_[half] = sums_of(half, sampling_instants.im.data() + first);
        }
    }

    HalfSums at(std::size_t n) const {
        HalfSums sums;
        for (std::size_t half = 0; half < kHalves; ++half) sums[half] = {re_[half][n], im_[half][n]};
        return sums;
    }
    /// Power of whole rows.
    float power_at(std::size_t n) const {
        float power = 0;
        for (std::size_t half = 0; half < kHalves; half += 2)
            power += std::norm(Iq(re_[half][n] + re_[half + 1][n], im_[half][n] + im_[half + 1][n]));
        return power;
    }

  private:
    using Block = std::array<float, kBlock>;

    // A block always has the same length, and its sums lie nowhere else: that makes vectors of them.
    static Block sums_of(std::size_t half, const float* symbols) {
        Block sums{};
        for (std::size_t k = half * kHalfSymbols; k < (half + 1) * kHalfSymbols; ++k) {
            const float sign = row_symbol(k / kVlSnrRowSymbols, k % kVlSnrRowSymbols);
            for (std::size_t n = 0; n < kBlock; ++n) sums[n] += sign * symbols[k + n];
        }
        return sums;
    }

    std::array<Block, kHalves> re_, im_;
};

// The largest power of the sum with a header's signs, at any frequency.
float header_power(const HalfSums& halves, const VlSnrHeader& header) {
    static const auto turns = [] {
        std::array<Iq, kFrequencies> all;
        for (std::size_t k = 0; k < kFrequencies; ++k)
            all[k] = Iq(std::polar(1.0, -dsp::kTwoPi * static_cast<double>(k) / kFrequencies));
        return all;
    }();
    float most = 0;
    for (std::size_t f = 0; f <= 2 * kMostFrequency; ++f) {
        const std::size_t turn = f + kFrequencies - kMostFrequency;
        Iq sum{};
        for (std::size_t half = 0; half < kHalves; ++half) {
            const bool inverted = (header.signs >> (kVlSnrRows - 1 - half / 2) & 1) != 0;
            sum += (inverted ? -halves[half] : halves[half]) * turns[turn * half % kFrequencies];
        }
        most = std::max(most, std::norm(sum));
    }
    return most;
}

/// Where a header was seen.
struct Seen {
    std::size_t place;  // symbols
    float power;
    int index;
};

void look_at(const HalfSums& halves, float usual, std::size_t place, std::vector<Seen>& all) {
    Seen best{place, kHeaderLimit * usual * kHeaderBits, -1};
    for (const VlSnrHeader& header : kVlSnrHeaders)
        if (const float power = header_power(halves, header); power > best.power)
            best.power = power, best.index = header.index;
    if (best.index < 0) return;
    // Beside its place a header shows as well.
    const auto same = std::ranges::find_if(all, [&](const Seen& seen) {
        return std::max(seen.place, place) - std::min(seen.place, place) < kVlSnrHeaderSymbols;
    });
    if (same == all.end()) {
        all.push_back(best);
    } else if (same->power < best.power) {
        *same = best;
    }
}

void look_through(const Strobes& sampling_instants, std::vector<Seen>& all) {
    for (std::size_t first = 0; first < sampling_instants.places(); first += kBlock) {
        const std::size_t count = std::min(kBlock, sampling_instants.places() - first);
        const HeaderCorrelation correlation(sampling_instants, first);
        for (std::size_t n = 0; n < count; ++n) {
            const std::size_t place = first + n;
            const double energy =
                sampling_instants.energy[place + kHeaderBits] - sampling_instants.energy[place];
            const auto usual = static_cast<float>(energy / kHeaderBits);  // power of a symbol
            if (correlation.power_at(n) > kRowsLimit * usual * kVlSnrRowSymbols)
                look_at(correlation.at(n), usual, place, all);
        }
    }
}

std::optional<int> most_frequent(const std::vector<Seen>& all) {
    std::array<std::size_t, kVlSnrRows> counts{};
    for (const Seen& seen : all) ++counts[static_cast<std::size_t>(seen.index)];
    const auto most = std::ranges::max_element(counts);
    if (*most < kVlHeadersThatConvince) return std::nullopt;
    return static_cast<int>(most - counts.begin());
}

}  // namespace

std::optional<int> look_for_vl_snr(std::span<const Iq> samples, double rolloff) {
    const std::vector<Iq> filtered = matched(samples, rolloff);
    for (const bool inverted : {false, true}) {
        std::vector<Seen> all;
        for (const std::size_t first : {0U, 1U}) look_through(Strobes(filtered, first, inverted), all);
        if (const auto index = most_frequent(all)) return index;
    }
    return std::nullopt;
}

}  // namespace tidemill::dvbs2
