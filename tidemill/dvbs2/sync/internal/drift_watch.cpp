#include "tidemill/dvbs2/sync/internal/drift_watch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tidemill/dsp/iq.hpp"
#include "tidemill/dvbs2/standard/modcod.hpp"

namespace tidemill::dvbs2::internal {

namespace {

constexpr double kPilotLag = kPilotSpacingSymbols + kPilotBlockSymbols;
constexpr double kLagTolerance = 40;  // a header's middle to the first pilots' is longer than from those on
constexpr double kKept = 0.8;         // of what was seen, from frame to frame
constexpr std::size_t kMostHeaders = 25;
constexpr std::size_t kUsualHeaders = 17;  // as long as they show enough: more are slow to see a drift begin
constexpr double kSurelyStraight = 200e3;  // symbols: so long a line is in any case,
constexpr double kLongestSymbols = 600e3;  // and as long as that where nothing speaks against it
// The drift by headers' phases is finer, but there are others like it: decided by a line that is as sure as
// this, and the least is believed rather than one so much less likely (log-likelihood).
constexpr double kSureTurn = 0.1, kStillSureTurn = 0.13;
constexpr double kBelief = 8;
constexpr double kPhaseSigma = 0.3;
constexpr double kLeastAlike = 0.7;
// Squares about the line, over what they should be, that are no more a line's.
constexpr double kLargestScatter = 3;
constexpr double kLargestLongScatter = 1.7;
// Prior of whole turns that pilots leave open, per turn, and by how much the likeliest must lead.
constexpr double kTurnBelief = 4;
constexpr double kTurnLead = 6;
constexpr double kMostOffLine = 5;  // sigmas
// Squares of the pilots' bends over what noise makes them, of a phase that is noisy itself.
constexpr double kNoisyScatter = 5;
constexpr double kLastingSigmas = 4;
constexpr std::size_t kLeastHeaders = 6;  // of a line on which nothing but frequencies lie

}  // namespace

void DriftWatch::add(std::span<const KnownPart> parts, double offset, double esn0) {
    bend_ *= kKept;
    bends_ *= kKept;
    frames_ *= kKept * kKept;
    const double before = bends_;
    for (std::size_t i = 2; i < parts.size(); ++i) {
        const double first = parts[i - 1].place - parts[i - 2].place;
        const double second = parts[i].place - parts[i - 1].place;
        if (std::abs(first - kPilotLag) > kLagTolerance || std::abs(second - kPilotLag) > kLagTolerance)
            continue;
        const auto middle = std::conj(parts[i - 1].sum);
        const auto bend = parts[i].sum * middle * middle * parts[i - 2].sum;
        const double size = std::abs(bend);
        if (!(size > 0) || !std::isfinite(size)) continue;
        bend_ += bend / size * std::polar(1.0, -dsp::kTwoPi * offset * (second - first));
        bends_ += 1;
    }
    if (bends_ > before) frames_ += 1;
    variance_ = 6 / (2 * kPilotBlockSymbols * esn0);
}

void DriftWatch::add_header(const Header& header) {
    if (knows(header.place)) return;
    if (!headers_.empty() && headers_.back().lag != header.lag) header_bend_ = header_bends_ = 0;
    headers_.push_back(header);
    while (headers_.size() > kMostHeaders || header.place - headers_.front().place > kLongestSymbols)
        headers_.pop_front();
    if (header.lag <= 0) return;
    header_bend_ = kKept * header_bend_ + std::polar(1.0, header.bend);
    header_bends_ = kKept * header_bends_ + 1;
}

// A frame's bends are second differences of phases, of which the inner ones cancel in their sum: it has the
// variance of a single one, or less, however many there are.
DriftWatch::Found DriftWatch::by_pilots_alone() const {
    if (bends_ <= 0) return {};
    const double alike = std::clamp(std::abs(bend_) / bends_, 1e-3, 1.0);
    const double variance = std::max(variance_, -2 * std::log(alike)) * frames_ / (bends_ * bends_);
    const double turn = dsp::kTwoPi * kPilotLag * kPilotLag;
    return {.drift = std::arg(bend_) / turn, .sigma = std::sqrt(variance) / turn};
}

DriftWatch::Found DriftWatch::by_pilots(double taken_out) const {
    constexpr double kSquare = kPilotLag * kPilotLag;
    Found found = by_pilots_alone();
    const Found line = shortest_line(kSureTurn / kSquare);
    if (found.sigma >= 1 || line.sigma >= 1) return found;
    const auto off_line = [&](double turns) {
        return std::abs(taken_out + found.drift + turns / kSquare - line.drift) / line.sigma;
    };
    const auto unlikely = [&](double turns) {
        const double drift = taken_out + found.drift + turns / kSquare;
        return 0.5 * std::pow(off_line(turns), 2) + kTurnBelief * std::abs(drift) * kSquare;
    };
    const double near = std::round((line.drift - taken_out - found.drift) * kSquare);
    std::array<double, 4> turns{near - 1, near, near + 1, 0};
    std::ranges::sort(turns, {}, unlikely);
    const double best = turns.front();
    const auto next = std::ranges::find_if(turns, [&](double other) { return other != best; });
    const bool is_clear =
        unlikely(*next) - unlikely(best) > kTurnLead && (best == 0 || off_line(best) < kMostOffLine);
    found.drift += best / kSquare;
    if (!is_clear || (is_noisy() && !is_lasting(found.drift, taken_out))) return {.open = true};
    return found;
}

// Whether phases scatter by far more than noise explains.
bool DriftWatch::is_noisy() const {
    return -2 * std::log(std::clamp(std::abs(bend_) / bends_, 1e-3, 1.0)) > kNoisyScatter * variance_;
}

// A noisy phase bends within a frame as if it drifted, and takes it back in the next ones.
bool DriftWatch::is_lasting(double drift, double taken_out) const {
    const Found line = line_from(first_of(kUsualHeaders), std::numeric_limits<double>::infinity());
    const double sigma = kLastingSigmas * line.sigma;
    return std::abs(taken_out + drift - line.drift) < sigma && sigma < std::abs(drift);
}

// Through the latest headers, as few as show the drift within `sigma`: fewer are hardly off a line where it
// changes. All of them where they do not.
DriftWatch::Found DriftWatch::shortest_line(double sigma) const {
    Found found;
    for (std::size_t first = headers_.size(); first-- > 0;) {
        if (headers_.size() - first < 2) continue;
        found = line_from(first, std::numeric_limits<double>::infinity());
        if (found.sigma <= sigma) break;
    }
    return found;
}

std::size_t DriftWatch::first_of(std::size_t headers) const {
    return headers_.size() - std::min(headers_.size(), headers);
}

// The longest one on which the latest headers lie, of so many.
DriftWatch::Found DriftWatch::line(std::size_t headers) const {
    for (std::size_t first = first_of(headers); first + 3 <= headers_.size(); ++first) {
        const bool is_long = headers_.back().place - headers_[first].place > kSurelyStraight;
        const Found found = line_from(first, is_long ? kLargestLongScatter : kLargestScatter);
        if (found.sigma < 1 || !is_long) return found;
    }
    return {};
}

DriftWatch::Found DriftWatch::line_from(std::size_t first, double most_scatter) const {
    const auto for_each_header = [&](auto use) {
        for (std::size_t i = first; i < headers_.size(); ++i) use(headers_[i]);
    };
    double weight = 0, place = 0, frequency = 0;
    for_each_header([&](const Header& h) {
        weight += 1 / h.variance;
        place += h.place / h.variance;
        frequency += h.frequency / h.variance;
    });
    place /= weight;
    frequency /= weight;
    double cross = 0, square = 0, scatter = 0;
    for_each_header([&](const Header& h) {
        cross += (h.place - place) * (h.frequency - frequency) / h.variance;
        square += (h.place - place) * (h.place - place) / h.variance;
    });
    const double drift = cross / square;
    for_each_header([&](const Header& h) {
        scatter += std::pow(h.frequency - frequency - drift * (h.place - place), 2) / h.variance;
    });
    if (scatter > most_scatter * static_cast<double>(headers_.size() - first - 2)) return {};
    return {place, frequency, drift, 1 / std::sqrt(square), headers_.back().place - headers_[first].place};
}

DriftWatch::Found DriftWatch::by_frequencies() const {
    for (std::size_t first = first_of(kUsualHeaders); first + kLeastHeaders <= headers_.size(); ++first) {
        const Found found = line_from(first, kLargestLongScatter);
        if (found.sigma < 1) return found;
    }
    return {};
}

DriftWatch::Found DriftWatch::by_headers() const {
    Found found = line(kUsualHeaders);
    const double lag = headers_.empty() ? 0 : headers_.back().lag, square = lag * lag;
    if (lag <= 0) return found;
    if (found.sigma * square > kSureTurn) found = line(kMostHeaders);
    const bool is_sure = found.sigma * square <= kStillSureTurn && header_bends_ >= 2 &&
                         std::abs(header_bend_) >= kLeastAlike * header_bends_;
    if (!is_sure) return {};
    const double fine = std::arg(header_bend_) / dsp::kTwoPi / square;
    const double other = fine + std::round((found.drift - fine) * square) / square;
    const auto unlikely = [&](double drift) {
        return 0.5 * std::pow((drift - found.drift) / found.sigma, 2);
    };
    found.drift = unlikely(fine) < unlikely(other) + kBelief ? fine : other;
    found.sigma = kPhaseSigma / (dsp::kTwoPi * square * std::sqrt(header_bends_));
    return found;
}

}  // namespace tidemill::dvbs2::internal
