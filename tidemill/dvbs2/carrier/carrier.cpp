#include "tidemill/dvbs2/carrier/carrier.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numbers>

#include "tidemill/dsp/complex_product.hpp"
#include "tidemill/dsp/iq.hpp"
#include "tidemill/dvbs2/carrier/internal/derotate.hpp"
#include "tidemill/dvbs2/carrier/internal/phase_walk.hpp"
#include "tidemill/dvbs2/carrier/internal/power_sum.hpp"

namespace tidemill::dvbs2 {

namespace {

using Complex = std::complex<double>;
constexpr double kPartTurns = 0.027;       // over one part, at what the frequency may be wrong
constexpr std::size_t kPowerChunk = 1920;  // symbols, whole blocks of any order
constexpr double kDriftMargin = 5e-5;      // cycles per symbol that a frame may differ from its neighbours
constexpr double kExpectedDrift = 2.5e-9;  // cycles per symbol squared
constexpr double kLargestReach = 1.5e-3;
constexpr double kQuietWalk = 9.375e-6;  // radians squared per symbol: 5.5 degrees in 1000 symbols

double reach_of(const FrameInfo& info) {
    return std::min(4.0 * info.frequency_sigma + 2 * kDriftMargin, kLargestReach);
}

// Parts of known symbols are as long as that reach allows: the fewer there are, the sooner they are searched.
int part_symbols_of(const FrameInfo& info) {
    return std::min(static_cast<int>(kPartTurns / reach_of(info)), kHeaderSymbols);
}

// The power in which all points of a modulation, or most of the strong ones, fall together.
int power_order(const Pls& pls) {
    const Modcod* modcod = find_modcod(pls.modcod);
    return modcod == nullptr ? 4 : 4 * (bits_per_symbol(modcod->modulation) - 1);
}

// Symbols whose powers are added up. Blocks cannot distinguish offsets by which a power turns fully from one
// to the next, so where it turns fast they are shorter.
std::size_t power_block(int order) {
    return order > 8 ? 48 : 96;
}

// How far the phase walks from block to block, in radians.
double step_of(double walk, int order) {
    return std::sqrt(walk * static_cast<double>(power_block(order)));
}

// The path's, where the mean one is faster than quiet: at times the phase is faster than in the mean.
double walk_of_path(double mean_walk) {
    constexpr double kMargin = 3;
    return mean_walk > kQuietWalk ? kMargin * mean_walk : mean_walk;
}

// Whether the phase half-way between pilots is known so badly that a point may pass for its neighbour.
bool is_lost_in_gaps(double walk, int order) {
    constexpr double kRoom = 0.2;  // of the angle from a point to the border of the next one
    const double deviation = std::sqrt(0.25 * walk * (kPilotSpacingSymbols + kPilotBlockSymbols));
    return deviation > kRoom * std::numbers::pi / order;
}

// Calls piece(first, count, line) for the parts of [first, last) between which the phase is straight.
template <class Piece>
void for_each_line(const CarrierTrack& track, int first, int last, Piece piece) {
    const double turn = dsp::kTwoPi * track.frequency;
    const auto& samples = track.samples;
    auto next = std::ranges::upper_bound(samples, static_cast<double>(first), {}, &PhaseSample::place);
    while (first < last) {
        const bool inside = next != samples.begin() && next != samples.end();
        const PhaseSample& from = next == samples.begin() ? *next : *(next - 1);
        const PhaseSample& to = next == samples.end() ? from : *next;
        const double slope = inside ? (to.phase - from.phase) / (to.place - from.place) : 0;
        const int end = next == samples.end() ? last : std::min(last, static_cast<int>(std::ceil(to.place)));
        const double start =
            std::remainder(turn * first, dsp::kTwoPi) + from.phase + slope * (first - from.place);
        if (end > first) {
            piece(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first),
                  internal::PhaseLine{start, turn + slope});
        }
        first = std::max(first, end);
        next += next == samples.end() ? 0 : 1;
    }
}

}  // namespace

void Carrier::estimate(std::span<const Iq> frame, const FrameInfo& info, CarrierTrack& track) {
    parts_.clear();
    const int part_symbols = part_symbols_of(info);
    const internal::BlockTurns turns(double{info.frequency});
    const auto add = [&](std::span<const Iq> references, int place) {
        internal::add_known(frame, references, place, part_symbols, turns, parts_);
    };
    add(header_references(info.pls.code()), 0);
    for (int block = 0; block < layout_of(info.pls).pilot_blocks; ++block) {
        const int place = FrameLayout::pilot_start(block);
        add(scrambler_->pilot_references().subspan(static_cast<std::size_t>(place - kHeaderSymbols),
                                                   kPilotBlockSymbols),
            place);
    }
    if (info.next_code >= 0) {
        add(header_references(info.next_code), info.symbols);
    }
    if (layout_of(info.pls).pilot_blocks == 0) return track_data(frame, info, track);
    track_known(frame, info, track);
    if (is_lost_in_gaps(smoother_.walk(), power_order(info.pls))) fill_gaps(frame, info, track);
}

void Carrier::track_known(std::span<const Iq> frame, const FrameInfo& info, CarrierTrack& track) {
    const double sigma = std::hypot(info.frequency_sigma, kDriftMargin);
    const double offset =
        info.alone ? offset_by_data(frame, info) : internal::best_offset(parts_, reach_of(info), sigma);
    const auto blocks = internal::join_parts(parts_, offset);
    internal::unwrap(blocks, internal::esn0_of(blocks), track.samples);
    const double slope = internal::remove_slope(track.samples);
    track.frequency = info.frequency + offset + slope / dsp::kTwoPi;
    known_phases_ = track.samples;
    smoother_.smooth(track.samples);
}

// The pilots of a frame alone leave open by how many turns the phase moves from one to the next, but the
// powers of all its data add up at one frequency.
double Carrier::offset_by_data(std::span<const Iq> frame, const FrameInfo& info) {
    const CarrierTrack straight{info.frequency, {PhaseSample{}}};
    add_gap_powers(frame, info, straight);
    const int order = power_order(info.pls);
    // A quarter of a turn of the powers over the whole frame, and nearly half a turn over a block.
    const double step = 0.25 / (order * info.symbols);
    const double reach = std::min(reach_of(info), 0.45 / (order * static_cast<double>(power_block(order))));
    const auto turned = [&](double offset, double place) {
        return std::polar(1.0, -dsp::kTwoPi * order * offset * place);
    };
    turns_.clear();
    for (internal::PowerBlock& block : powers_) {
        turns_.push_back(turned(step, block.place));
        block.sum *= turned(-reach, block.place);
    }
    double best = 0, most = -1;
    for (double offset = -reach; offset <= reach; offset += step) {
        Complex sum{};
        for (std::size_t k = 0; k < powers_.size(); ++k) {
            sum += powers_[k].sum;
            powers_[k].sum = dsp::product(powers_[k].sum, turns_[k]);
        }
        if (std::norm(sum) > most) most = std::norm(sum), best = offset;
    }
    return best;
}

void Carrier::add_gap_powers(std::span<const Iq> frame, const FrameInfo& info, const CarrierTrack& track) {
    const FrameLayout layout = layout_of(info.pls);
    powers_.clear();
    int first = kHeaderSymbols;
    for (int block = 0; block <= layout.pilot_blocks; ++block) {
        const int last = block < layout.pilot_blocks ? FrameLayout::pilot_start(block) : layout.symbols;
        add_powers(frame, track, first, last, power_order(info.pls));
        first = last + kPilotBlockSymbols;
    }
}

// Between known symbols, the phase's most likely path through the powers of the data.
void Carrier::fill_gaps(std::span<const Iq> frame, const FrameInfo& info, CarrierTrack& track) {
    const int order = power_order(info.pls);
    add_gap_powers(frame, info, track);
    const auto statistics = internal::statistics_of_straight(powers_);
    const std::array straight{internal::Sweep{}};
    const double step_sigma = step_of(smoother_.walk(), order);
    all_phases_.assign(1, known_phases_.front());
    auto begin = powers_.cbegin();
    for (std::size_t i = 1; i < known_phases_.size(); ++i) {
        const PhaseSample& from = track.samples[i - 1];
        const PhaseSample& to = track.samples[i];
        const auto end =
            std::find_if(begin, powers_.cend(), [&](const auto& b) { return b.place > to.place; });
        const std::array ends{PhaseSample{from.place, 0, known_phases_[i - 1].variance},
                              PhaseSample{to.place, 0, known_phases_[i].variance}};
        if (begin != end) {
            path_.follow({begin, end}, statistics, order, ends, step_sigma, straight, gap_phases_);
            add_gap_phases(from, to);
        }
        all_phases_.push_back(known_phases_[i]);
        begin = end;
    }
    track.samples = all_phases_;
    smoother_.smooth(track.samples);
}

// A path's phases, without its ends, are beside the straight line, and perhaps whole turns away from it.
void Carrier::add_gap_phases(const PhaseSample& from, const PhaseSample& to) {
    for (std::size_t k = 1; k + 1 < gap_phases_.size(); ++k) {
        PhaseSample& found = all_phases_.emplace_back(gap_phases_[k]);
        const double way = (found.place - from.place) / (to.place - from.place);
        found.phase += std::lerp(from.phase, to.phase, way) - gap_phases_.front().phase;
    }
}

// Adds powers of the symbols [first, last) without the carrier of `track`; what is left over at the end
// counts for nothing.
void Carrier::add_powers(std::span<const Iq> frame, const CarrierTrack& track, int first, int last,
                         int order) {
    upright_.resize(kPowerChunk);
    internal::Derotator derotate;
    const std::size_t symbols = power_block(order);
    for (; first + static_cast<int>(symbols) <= last; first += static_cast<int>(kPowerChunk)) {
        const int end = std::min(first + static_cast<int>(kPowerChunk), last);
        const auto chunk = static_cast<std::size_t>(first);
        for_each_line(track, first, end, [&](std::size_t place, std::size_t count, internal::PhaseLine line) {
            derotate(frame.subspan(place, count),
                     scrambler_->descrambling().subspan(place - kHeaderSymbols, count), line,
                     std::span(upright_).subspan(place - chunk, count));
        });
        const auto count = static_cast<std::size_t>(end - first);
        for (std::size_t block = 0; block + symbols <= count; block += symbols) {
            const double middle = static_cast<double>(chunk + block) + 0.5 * static_cast<double>(symbols - 1);
            const auto upright = std::span<const Iq>(upright_).subspan(block, symbols);
            powers_.push_back({middle, Complex(internal::power_sum(upright, order))});
        }
    }
}

void Carrier::track_data(std::span<const Iq> frame, const FrameInfo& info, CarrierTrack& track) {
    const int order = power_order(info.pls);
    powers_.clear();
    track.frequency = info.frequency;
    track.samples.assign(1, {});
    add_powers(frame, track, kHeaderSymbols, info.symbols, order);
    const auto headers = internal::join_parts(parts_, 0);
    internal::unwrap(headers, internal::esn0_of(headers), known_phases_);
    const double drifted = kExpectedDrift * info.symbols;
    const double sigma = std::min(std::hypot(info.frequency_sigma, drifted), kLargestReach / 4);
    const auto likely = internal::search_sweeps(powers_, order, sigma, known_phases_);
    const double walk =
        walk_of_path(internal::walk_beside(likely.sweeps.front(), powers_, order, kQuietWalk));
    const internal::Sweep sweep = path_.follow(powers_, likely.statistics, order, known_phases_,
                                               step_of(walk, order), likely.sweeps, track.samples);
    const double slope = internal::remove_slope(track.samples);
    smoother_.smooth(track.samples);
    for (PhaseSample& sample : track.samples) {
        sample.phase += sweep.bend_at(sample.place);
    }
    track.frequency = info.frequency + sweep.offset + slope / dsp::kTwoPi;
}

Carrier::Counts Carrier::remove(std::span<const Iq> frame, const FrameInfo& info, const CarrierTrack& track,
                                std::span<Iq> data, std::span<Iq> known) const {
    const FrameLayout layout = layout_of(info.pls);
    internal::Derotator derotate;
    Counts done{0, 0};
    const auto take = [&](int first, int last, std::span<const Iq> factors, std::span<Iq> to,
                          std::size_t& count) {
        for_each_line(track, first, last,
                      [&](std::size_t place, std::size_t length, internal::PhaseLine line) {
                          derotate(frame.subspan(place, length),
                                   factors.subspan(place - static_cast<std::size_t>(first), length), line,
                                   to.subspan(count, length));
                          count += length;
                      });
    };
    take(0, kHeaderSymbols, header_references(info.pls.code()), known, done.known);
    int place = kHeaderSymbols;
    for (int block = 0; block <= layout.pilot_blocks; ++block) {
        const int end = block < layout.pilot_blocks ? FrameLayout::pilot_start(block) : layout.symbols;
        const auto behind_header = static_cast<std::size_t>(place - kHeaderSymbols);
        take(place, end, scrambler_->descrambling().subspan(behind_header), data, done.data);
        if (end < layout.symbols) {
            const auto pilots =
                scrambler_->pilot_references().subspan(static_cast<std::size_t>(end - kHeaderSymbols));
            take(end, end + kPilotBlockSymbols, pilots, known, done.known);
        }
        place = end + kPilotBlockSymbols;
    }
    return done;
}

}  // namespace tidemill::dvbs2
