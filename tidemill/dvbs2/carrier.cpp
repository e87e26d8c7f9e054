#include "tidemill/dvbs2/carrier.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

#include "tidemill/dvbs2/detail_derotate.hpp"
#include "tidemill/dvbs2/detail_phase_path.hpp"
#include "tidemill/dvbs2/detail_power_sum.hpp"

namespace tidemill::dvbs2 {

namespace {

constexpr double kTwoPi = 2 * std::numbers::pi;
using Complex = std::complex<double>;
constexpr double kPartTurns = 0.027;  // over one part, at what the frequency may be wrong
constexpr std::size_t kPowerBlock = 96;
constexpr std::size_t kPowerChunk = 20 * kPowerBlock;
constexpr double kDriftMargin = 5e-5;  // cycles per symbol that a frame may differ from its neighbours
constexpr double kLargestReach = 1.5e-3;
constexpr double kQuietStep = 0.03;  // radians per power block: 5 degrees in 1000 symbols

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

// Calls piece(first, count, line) for the parts of [first, last) between which the phase is straight.
template <class Piece>
void for_each_line(const CarrierTrack& track, int first, int last, Piece piece) {
    const double turn = kTwoPi * track.frequency;
    const auto& samples = track.samples;
    auto next = std::ranges::upper_bound(samples, static_cast<double>(first), {}, &PhaseSample::place);
    while (first < last) {
        const bool inside = next != samples.begin() && next != samples.end();
        const PhaseSample& from = next == samples.begin() ? *next : *(next - 1);
        const PhaseSample& to = next == samples.end() ? from : *next;
        const double slope = inside ? (to.phase - from.phase) / (to.place - from.place) : 0;
        const int end = next == samples.end() ? last : std::min(last, static_cast<int>(std::ceil(to.place)));
        const double start = std::remainder(turn * first, kTwoPi) + from.phase + slope * (first - from.place);
        if (end > first) {
            piece(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first),
                  detail::PhaseLine{start, turn + slope});
        }
        first = std::max(first, end);
        next += next == samples.end() ? 0 : 1;
    }
}

}  // namespace

void Carrier::estimate(std::span<const Iq> frame, const FrameInfo& info, CarrierTrack& track) {
    parts_.clear();
    const int part_symbols = part_symbols_of(info);
    const auto add = [&](std::span<const Iq> references, int place) {
        detail::add_known(frame, references, place, part_symbols, info.frequency, parts_);
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
    const bool has_pilots = layout_of(info.pls).pilot_blocks > 0;
    has_pilots ? track_known(info, track) : track_data(frame, info, track);
}

void Carrier::track_known(const FrameInfo& info, CarrierTrack& track) {
    const double sigma = std::hypot(info.frequency_sigma, kDriftMargin);
    const double offset = detail::best_offset(parts_, reach_of(info), sigma);
    const auto blocks = detail::join_parts(parts_, offset);
    detail::unwrap(blocks, detail::esn0_of(blocks), track.samples);
    const double slope = detail::remove_slope(track.samples);
    track.frequency = info.frequency + offset + slope / kTwoPi;
    smoother_.smooth(track.samples);
}

void Carrier::add_powers(std::span<const Iq> frame, const FrameInfo& info, int order) {
    const double turn = kTwoPi * info.frequency;
    upright_.resize(kPowerChunk);
    powers_.clear();
    std::size_t place = kHeaderSymbols;
    const auto end = static_cast<std::size_t>(info.symbols);
    while (place + kPowerBlock <= end) {
        const std::size_t count = std::min(kPowerChunk, end - place);
        const auto upright = std::span(upright_).first(count);
        detail::derotate(frame.subspan(place, count),
                         scrambler_->descrambling().subspan(place - kHeaderSymbols, count),
                         {std::remainder(turn * static_cast<double>(place), kTwoPi), turn}, upright);
        for (std::size_t first = 0; first + kPowerBlock <= count; first += kPowerBlock) {
            const double middle = static_cast<double>(place + first) + 0.5 * (kPowerBlock - 1);
            powers_.push_back(
                {middle, Complex(detail::power_sum(upright.subspan(first, kPowerBlock), order))});
        }
        place += count;
    }
}

void Carrier::track_data(std::span<const Iq> frame, const FrameInfo& info, CarrierTrack& track) {
    const int order = power_order(info.pls);
    add_powers(frame, info, order);
    const auto headers = detail::join_parts(parts_, 0);
    detail::unwrap(headers, detail::esn0_of(headers), header_phases_);
    const double sigma = std::min(std::hypot(info.frequency_sigma, kDriftMargin), kLargestReach / 4);
    const auto powers = detail::examine(powers_, order, sigma, header_phases_);
    detail::follow_path(powers_, powers, order, header_phases_, kQuietStep, track.samples);
    const double slope = detail::remove_slope(track.samples);
    smoother_.smooth(track.samples);
    for (PhaseSample& sample : track.samples) {
        sample.phase += powers.sweep.bend_at(sample.place);
    }
    track.frequency = info.frequency + powers.sweep.offset + slope / kTwoPi;
}

Carrier::Counts Carrier::remove(std::span<const Iq> frame, const FrameInfo& info, const CarrierTrack& track,
                                std::span<Iq> data, std::span<Iq> known) const {
    const FrameLayout layout = layout_of(info.pls);
    Counts done{0, 0};
    const auto take = [&](int first, int last, std::span<const Iq> factors, std::span<Iq> to,
                          std::size_t& count) {
        for_each_line(track, first, last, [&](std::size_t place, std::size_t length, detail::PhaseLine line) {
            detail::derotate(frame.subspan(place, length),
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
