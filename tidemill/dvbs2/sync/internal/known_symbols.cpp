#include "tidemill/dvbs2/sync/internal/known_symbols.hpp"

#include <algorithm>
#include <cmath>

#include "tidemill/base/quantile.hpp"
#include "tidemill/dsp/complex_product.hpp"
#include "tidemill/dsp/iq.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"
#include "tidemill/dvbs2/sync/internal/stepped_sums.hpp"

namespace tidemill::dvbs2::internal {

namespace {

constexpr double kPilotLobe = 1.0 / (kPilotSpacingSymbols + kPilotBlockSymbols);
using Complex = std::complex<double>;

using dsp::product;

// A block with less than this share of the usual energy was zeroed for the most part: the rest gives no
// phase.
constexpr double kErasedShare = 0.15;

// Usual energy of a symbol: half of the blocks have more.
double usual_energy(std::span<const KnownPart> blocks) {
    std::vector<double> energies;
    for (const KnownPart& block : blocks) energies.push_back(block.energy / block.symbols);
    return energies.empty() ? 0 : middle_value(energies);
}

// How well the parts agree at an offset: the energy of their sum.
double agreement(std::span<const KnownPart> parts, double offset) {
    Complex sum{};
    for (const KnownPart& part : parts) {
        sum += product(part.sum, std::polar(1.0, -dsp::kTwoPi * offset * part.place));
    }
    return std::norm(sum);
}

// Energy of the noise in the sum of all symbols.
double noise_energy(std::span<const KnownPart> parts) {
    const auto blocks = join_parts(parts, 0);
    double energy = 0;
    for (const KnownPart& block : blocks) {
        energy += block.energy;
    }
    return std::max(energy / (1 + esn0_of(blocks)), 1e-30);
}

// The top of a score near a place, by parabolas through three neighbours.
template <class Score>
double climb(Score score, double place, double step) {
    for (const double width : {step, 0.2 * step}) {
        const double left = score(place - width);
        const double right = score(place + width);
        const double curvature = 2 * score(place) - left - right;
        place += curvature > 0 ? std::clamp(0.5 * width * (right - left) / curvature, -width, width) : 0;
    }
    return place;
}

}  // namespace

// In chains of which none waits for another.
BlockTurns::BlockTurns(double frequency) : frequency_(frequency) {
    constexpr std::size_t kChains = 6;
    static_assert(kHeaderSymbols % kChains == 0);
    const Complex step = std::polar(1.0, -dsp::kTwoPi * frequency);
    std::array<Complex, kChains> turn{Complex{1, 0}};
    for (std::size_t i = 1; i < kChains; ++i) turn[i] = product(turn[i - 1], step);
    const Complex far = product(turn.back(), step);
    for (std::size_t n = 0; n < turns_.size(); n += kChains) {
        for (std::size_t i = 0; i < kChains; ++i) {
            turns_[n + i] = dsp::Iq(turn[i]);
            turn[i] = product(turn[i], far);
        }
    }
}

KnownPart known_part(const dsp::ProductSums& sums, int place, int symbols, double frequency) {
    const Complex turn = std::polar(1.0, -dsp::kTwoPi * frequency * place);
    return {place + (symbols - 1) / 2.0, product(Complex(sums.sum), turn), double{sums.energy}, symbols};
}

void add_known(std::span<const dsp::Iq> frame, std::span<const dsp::Iq> references, int place,
               int part_symbols, const BlockTurns& turns, std::vector<KnownPart>& parts) {
    std::array<dsp::Iq, kHeaderSymbols> products;
    while (!references.empty()) {
        const std::size_t count = std::min(static_cast<std::size_t>(part_symbols), references.size());
        const auto sums = turns.turn_back(frame.subspan(static_cast<std::size_t>(place), count),
                                          references.first(count), std::span(products).first(count));
        parts.push_back(known_part(sums, place, static_cast<int>(count), turns.frequency()));
        references = references.subspan(count);
        place += static_cast<int>(count);
    }
}

std::vector<KnownPart> join_parts(std::span<const KnownPart> parts, double offset) {
    std::vector<KnownPart> blocks;
    double end = -1;
    for (const KnownPart& part : parts) {
        const Complex sum = product(part.sum, std::polar(1.0, -dsp::kTwoPi * offset * part.place));
        if (part.place - 0.5 * part.symbols > end) {
            blocks.push_back({0, {}, 0, 0});
        }
        KnownPart& block = blocks.back();
        block.place =
            (block.place * block.symbols + part.place * part.symbols) / (block.symbols + part.symbols);
        block.sum += sum;
        block.energy += part.energy;
        block.symbols += part.symbols;
        end = part.place + 0.5 * part.symbols;
    }
    return blocks;
}

double esn0_of(std::span<const KnownPart> blocks) {
    double coherent = 0;
    double energy = 0;
    double pairs = 0;
    double symbols = 0;
    for (const KnownPart& block : blocks) {
        coherent += std::norm(block.sum) - block.energy;
        energy += block.energy;
        pairs += static_cast<double>(block.symbols) * (block.symbols - 1);
        symbols += block.symbols;
    }
    const double signal = std::max(coherent / pairs, 0.0);
    const double noise = energy / symbols - signal;
    return std::clamp(signal / std::max(noise, 1e-6 * signal + 1e-30), 0.25, 1e4);
}

double best_offset(std::span<const KnownPart> parts, double reach, double sigma) {
    const double step = 1 / (6 * (parts.back().place - parts.front().place));
    const double weight = 1 / noise_energy(parts);
    const auto likelihood = [&](double offset, double agreed) {
        return weight * agreed - 0.5 * offset * offset / (sigma * sigma);
    };
    const auto score = [&](double offset) { return likelihood(offset, agreement(parts, offset)); };
    double best = 0;
    double best_score = score(best);
    const auto take_better = [&](double offset, double its_score) {
        if (its_score <= best_score) return;
        best = offset;
        best_score = its_score;
    };
    const auto steps = static_cast<int>(std::ceil(reach / step));
    SteppedSums grid(-steps * step, step);
    for (const KnownPart& part : parts) grid.add(part.sum, part.place);
    for (int k = -steps; k <= steps; ++k) take_better(k * step, likelihood(k * step, std::norm(grid.next())));
    // Lobes are compared at their very tops, not where the grid happened to meet them.
    const double top = climb(score, best, step);
    take_better(top, score(top));
    for (const double lobe : {-kPilotLobe, kPilotLobe}) {
        if (std::abs(top + lobe) > reach) continue;
        const double place = climb(score, top + lobe, step);
        take_better(place, score(place));
    }
    return best;
}

void unwrap(std::span<const KnownPart> blocks, double esn0, std::vector<PhaseSample>& samples) {
    samples.clear();
    const double erased = kErasedShare * usual_energy(blocks);
    double before = 0;
    for (const KnownPart& block : blocks) {
        if (block.energy < erased * block.symbols) {
            samples.push_back({block.place, before, kErasedVariance});
            continue;
        }
        const double turned = std::arg(block.sum) - before;
        before += turned - dsp::kTwoPi * std::round(turned / dsp::kTwoPi);
        samples.push_back({block.place, before, 1 / (2 * block.symbols * esn0)});
    }
}

double remove_slope(std::span<PhaseSample> samples) {
    double weight = 0;
    double place = 0;
    double phase = 0;
    for (const PhaseSample& s : samples) {
        weight += 1 / s.variance;
        place += s.place / s.variance;
        phase += s.phase / s.variance;
    }
    place /= weight;
    phase /= weight;
    double cross = 0;
    double square = 0;
    for (const PhaseSample& s : samples) {
        cross += (s.place - place) * (s.phase - phase) / s.variance;
        square += (s.place - place) * (s.place - place) / s.variance;
    }
    const double slope = square > 0 ? cross / square : 0;
    for (PhaseSample& s : samples) {
        s.phase -= slope * s.place;
    }
    return slope;
}

}  // namespace tidemill::dvbs2::internal
