#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "tidemill/apps/ber/ber_job.hpp"
#include "tidemill/dvbs2/ber/ber_trial.hpp"
#include "tidemill/dvbs2/ber/proportion.hpp"
#include "tidemill/dvbs2/standard/modcod_name.hpp"
#include "tidemill/lab/reproduce/reproduction.hpp"
#include "tidemill/lab/reproduce/verdict.hpp"
#include "tidemill/machine/topology.hpp"
#include "tidemill/scheduling/static/interruption.hpp"

// The error rates in the article on the language StreamPU.
namespace tidemill::cli {

namespace {

using dvbs2::BerCounts;
using dvbs2::BerPoint;

constexpr int kPeersIterations = 10;  // of StreamPU's decoder, all by min-sum
constexpr std::uint64_t kEnoughErrors = 50;
constexpr int kPointsOfCurve = 6;
constexpr double kOffset = 0.05;  // of the carrier, to the symbol rate: as its own counts have it
constexpr std::uint64_t kFramesOfBurst = 50;

/// A curve of the figure: short frames from some Eb/N0 on.
struct Curve {
    int modcod;
    double first_ebn0_db;
    double step_db;
};

// The paper's MODCODs 1, 2 and 3, about where they fall.
constexpr Curve kCurves[] = {{5, 1.5, 0.2}, {10, 3.6, 0.1}, {16, 6.3, 0.1}};

BerCounts count(const BerPoint& point, std::uint64_t frames) {
    interruption_point();
    const auto threads = static_cast<int>(Topology::here().cores.size());
    return dvbs2::BerTrial(point, {.frames = frames, .frame_errors = kEnoughErrors})
        .run(threads, interruption());
}

BerPoint with_min_sum(BerPoint point) {
    point.max_iterations = kPeersIterations;
    point.fast_iterations = kPeersIterations;
    return point;
}

BerPoint with_search(BerPoint point) {
    point.full_sync = {
        .frequency_cycles_per_symbol = kOffset, .clock_offset_ppm = 0, .frames_per_burst = kFramesOfBurst};
    return point;
}

Cell published_rate(const Curve& curve, double ebn0_db) {
    for (const PublishedRate& rate : published_rates(curve.modcod, dvbs2::FrameSize::short_))
        if (std::abs(rate.ebn0_db - ebn0_db) < curve.step_db / 4) return rate.frame_error_rate;
    return {};
}

std::vector<Cell> row_of(const Curve& curve, double ebn0_db, std::uint64_t frames) {
    const dvbs2::Pls pls{curve.modcod, dvbs2::FrameSize::short_, false};
    const BerPoint point{.pls = pls, .esn0_db = ebn0_db + bits_per_symbol_db(pls)};
    const BerCounts min_sum = count(with_min_sum(point), frames);
    const BerCounts ours = count(point, frames);
    const BerCounts searching = count(with_search(point), std::max(kFramesOfBurst, frames / 4));
    const dvbs2::Interval interval = dvbs2::proportion_interval(min_sum.frame_errors, min_sum.frames);
    return {modcod_name(*dvbs2::find_modcod(curve.modcod)),
            ebn0_db,
            published_rate(curve, ebn0_db),
            min_sum.frame_error_rate(),
            interval.low,
            interval.high,
            ours.frame_error_rate(),
            searching.frame_error_rate(),
            min_sum.bit_error_rate()};
}

}  // namespace

std::vector<ResultTable> streampu_fig10(const ReproduceOptions& options) {
    ResultTable table{"StreamPU, Fig. 10: frame errors of short frames over white noise",
                      {{"MODCOD"},
                       {"Eb/N0 dB", 1},
                       {"FER publ.", 1, true},
                       {"min-sum FER", 1, true},
                       {"95 % from", 1, true},
                       {"to", 1, true},
                       {"ours FER", 1, true},
                       {"whole receiver FER", 1, true},
                       {"min-sum BER", 1, true}}};
    double done = 0;
    for (const Curve& curve : kCurves) {
        for (int i = 0; i < kPointsOfCurve; ++i) {
            const double ebn0_db = curve.first_ebn0_db + i * curve.step_db;
            if (options.progress)
                options.progress(modcod_name(*dvbs2::find_modcod(curve.modcod)),
                                 done++ / (std::size(kCurves) * kPointsOfCurve));
            table.rows.push_back(row_of(curve, ebn0_db, options.frames));
        }
    }
    table.notes.push_back(
        fmt::format("The figure is a picture; published: {}, counted by its authors' program. min-sum: our "
                    "decoder with as many iterations, all by min-sum.",
                    kPublishedBy));
    table.notes.push_back(fmt::format(
        "ours: up to 150 iterations, the last ones by sum-product; the whole receiver finds an offset of up "
        "to {} of the symbol rate, phase and time anew in each {} frames, as the figure's triangles do.",
        kOffset, kFramesOfBurst));
    table.notes.emplace_back(
        "The figure's circles were received by radios, and are not to be had without them.");
    add_verdicts(
        table, "the published rate is within the 95 % interval of ours by min-sum.",
        [](const std::vector<Cell>& row) {
            const auto* const published = std::get_if<double>(&row[2]);
            if (published == nullptr) return Verdict::cannot_tell;
            return yes_if(std::get<double>(row[4]) <= *published && *published <= std::get<double>(row[5]));
        });
    return {table};
}

}  // namespace tidemill::cli
