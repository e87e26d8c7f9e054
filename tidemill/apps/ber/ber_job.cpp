#include "tidemill/apps/ber/ber_job.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "tidemill/apps/ber/ber_state.hpp"
#include "tidemill/apps/running/watch.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/dsp/instruction_set.hpp"
#include "tidemill/dvbs2/receiver/rx_decode.hpp"
#include "tidemill/dvbs2/standard/modcod_name.hpp"
#include "tidemill/machine/topology.hpp"

namespace tidemill::cli {

namespace {

using dvbs2::BerCounts;
using dvbs2::BerPoint;
using dvbs2::Pls;

// How often a long count is written down: what a crash can cost.
constexpr std::uint64_t kFramesPerSlice = 2000;

std::vector<Pls> codes_of(const BerOptions& options) {
    std::vector<Pls> all;
    const auto add = [&](int modcod) {
        const Pls pls{modcod, options.frame, options.pilots};
        if (pls.is_defined()) all.push_back(pls);
    };
    std::ranges::for_each(options.modcods, add);
    if (options.modcods.empty()) std::ranges::for_each(dvbs2::all_modcods(), add, &dvbs2::Modcod::number);
    if (all.empty()) throw WrongUsage("rate 9/10 has no short frames");
    return all;
}

std::vector<double> esn0s_of(const BerOptions& options, const Pls& pls) {
    if (!options.esn0_db.empty()) return options.esn0_db;
    const bool is_short = pls.size == dvbs2::FrameSize::short_;
    const bool by_ebn0 = !options.ebn0_db.empty();
    std::vector<double> list = by_ebn0 ? options.ebn0_db : options.margin_db;
    if (list.empty()) list = {is_short ? 0.5 : 0.2};
    const double base =
        by_ebn0 ? bits_per_symbol_db(pls) : double{dvbs2::find_modcod(pls.modcod)->esn0_threshold_db};
    // Thresholds are known to hundredths; what is added to them shall not show the noise of a float.
    for (double& db : list) db = std::round((db + base) * 1e4) / 1e4;
    return list;
}

// The part of a count that a sweep adds to others.
void check_part(const BerOptions& options) {
    const std::uint64_t burst = options.full_sync.frames_per_burst;
    if (!options.is_full || options.first_frame == 0) return;
    for (const auto& [option, frame] :
         {std::pair("--first-frame", options.first_frame), std::pair("--frames", options.limits.frames)}) {
        if (frame % burst == 0) continue;
        throw WrongUsage(
            fmt::format("{} {} cuts a burst of {} frames: give a multiple of --burst", option, frame, burst));
    }
}

BerPoint by_sum_product(BerPoint point) {
    point.by_sum_product = true;
    return point;
}

std::string progress(const BerPoint& point, const BerCounts& counts, std::size_t done, std::size_t all) {
    return fmt::format("point {} of {}: {} {} at {:.2f} dB, {} frames, {} wrong", done + 1, all,
                       modcod_name(*dvbs2::find_modcod(point.pls.modcod)), name(point.pls.size),
                       point.esn0_db, counts.frames, counts.frame_errors);
}

}  // namespace

double bits_per_symbol_db(const Pls& pls) {
    return 10 *
           std::log10(static_cast<double>(dvbs2::code_of(pls)->k_bch) / dvbs2::layout_of(pls).data_symbols);
}

std::vector<BerPoint> ber_points(const BerOptions& options) {
    check_part(options);
    std::vector<BerPoint> points;
    for (const Pls& pls : codes_of(options)) {
        for (const double esn0_db : esn0s_of(options, pls)) {
            BerPoint& point = points.emplace_back();
            point = {pls, esn0_db, options.seed, options.iterations, {}, options.first_frame};
            if (options.is_full) point.full_sync = options.full_sync;
        }
    }
    return points;
}

std::vector<BerResult> count_errors(const BerOptions& options) {
    if (options.sum_product && options.is_full)
        throw WrongUsage("--sum-product compares decoders, with --sync ideal: leave one of the two out");
    if (!options.target.empty()) dsp::use_instruction_set(options.target);
    const int threads =
        options.threads > 0 ? options.threads : static_cast<int>(Topology::here().cores.size());
    std::vector<BerResult> results;
    for (const BerPoint& point : ber_points(options)) results.push_back({point, {}});
    BerState state(options.state);
    for (BerResult& result : results) result.counts = state.counts_of(result.point);

    std::mutex mutex;
    std::string line = "counting";
    const Watch watch(
        [&] {
            const std::scoped_lock lock(mutex);
            return line;
        },
        options.stop);
    const auto show = [&](std::size_t k) {
        const std::scoped_lock lock(mutex);
        line = progress(results[k].point, results[k].counts, k, results.size());
    };
    const auto count = [&](std::size_t k, const BerPoint& point, const dvbs2::BerLimits& limits,
                           BerCounts& counts) {
        const auto done = [&] {
            return counts.frames >= limits.frames || counts.frame_errors >= limits.frame_errors;
        };
        while (!done() && !watch.interrupted()) {
            show(k);
            dvbs2::BerLimits slice = limits;
            slice.frames = std::min(slice.frames, counts.frames + kFramesPerSlice);
            counts = dvbs2::BerTrial(point, slice, counts).run(threads, watch.stop());
            state.put(point, counts);
        }
        show(k);
    };
    for (std::size_t k = 0; k < results.size(); ++k) {
        count(k, results[k].point, options.limits, results[k].counts);
        if (!options.sum_product) continue;
        const BerPoint reference = by_sum_product(results[k].point);
        results[k].by_sum_product = state.counts_of(reference);
        const std::uint64_t frames = results[k].counts.frames;
        count(k, reference, {.frames = frames, .frame_errors = frames + 1}, *results[k].by_sum_product);
    }
    return results;
}

}  // namespace tidemill::cli
