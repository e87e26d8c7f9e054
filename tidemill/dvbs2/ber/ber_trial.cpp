#include "tidemill/dvbs2/ber/ber_trial.hpp"

#include <fmt/format.h>

#include "tidemill/dvbs2/ber/ber_full.hpp"
#include "tidemill/dvbs2/ber/ber_ideal.hpp"
#include "tidemill/dvbs2/ber/ber_sum_product.hpp"
#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/receiver/rx_decode.hpp"
#include "tidemill/dvbs2/receiver/rx_demapper.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/structure.hpp"

namespace tidemill::dvbs2 {

namespace {

// Everything that may be replicated on `threads` threads, then the monitor.
Schedule schedule_of(std::size_t tasks, int threads) {
    Schedule schedule;
    schedule.stages = {{.first_task = 0, .task_count = tasks - 1, .threads = threads, .core_kind = "any"},
                       {.first_task = tasks - 1, .task_count = 1, .threads = 1, .core_kind = "any"}};
    return schedule;
}

}  // namespace

BerMonitor::BerMonitor(const BerLimits& limits, const BerCounts& so_far)
    : Module("monitor"),
      limits_(limits),
      total_(so_far),
      live_frames_(so_far.frames),
      live_errors_(so_far.frame_errors) {}

Flow BerMonitor::add_counts(Frame f) {
    if (total_.frames >= limits_.frames || total_.frame_errors >= limits_.frame_errors) return Flow::stop;
    total_ += f[counts][0];
    live_frames_.store(total_.frames, std::memory_order_relaxed);
    live_errors_.store(total_.frame_errors, std::memory_order_relaxed);
    return Flow::ok;
}

BerTrial::BerTrial(const BerPoint& point, const BerLimits& limits, const BerCounts& so_far)
    : frames_per_turn_(point.full_sync ? point.full_sync->frames_per_burst : 1),
      first_frame_(point.first_frame),
      monitor_(&graph_.add<BerMonitor>(limits, so_far)) {
    if (first_frame_ % frames_per_turn_ != 0) {
        throw Dvbs2Error(fmt::format("frame {} lies inside a burst of {}: begin with frame {} or {}",
                                     first_frame_, frames_per_turn_,
                                     first_frame_ - first_frame_ % frames_per_turn_,
                                     first_frame_ - first_frame_ % frames_per_turn_ + frames_per_turn_));
    }
    if (point.full_sync) {
        graph_.bind(graph_.add<BerFullLink>(point).counts, monitor_->counts);
    } else {
        make_ideal(point);
    }
}

void BerTrial::make_ideal(const BerPoint& point) {
    auto& link = graph_.add<BerIdealLink>(point.pls, point.esn0_db, point.seed);
    auto& bch = graph_.add<RxBch>();
    auto& descrambler = graph_.add<RxDescrambler>();
    auto& compare = graph_.add<BerCompare>();
    const auto bind_decoder = [&](auto& decoder) {
        graph_.bind(decoder.codeword, bch.codeword);
        graph_.bind(decoder.result, compare.ldpc);
    };
    const auto bind_symbols = [&](auto& receiver) {
        graph_.bind(link.data, receiver.data);
        graph_.bind(link.quality, receiver.quality);
    };
    if (point.by_sum_product) {
        auto& reference = graph_.add<BerSumProduct>();
        bind_symbols(reference);
        bind_decoder(reference);
    } else {
        auto& demapper = graph_.add<RxDemapper>();
        auto& ldpc = graph_.add<RxLdpc>(fec::LdpcSettings{.max_iterations = point.max_iterations,
                                                          .fast_iterations = point.fast_iterations});
        bind_symbols(demapper);
        graph_.bind(demapper.llrs, ldpc.llrs);
        bind_decoder(ldpc);
    }
    graph_.bind(bch.codeword, descrambler.codeword);
    graph_.bind(descrambler.codeword, compare.codeword);
    graph_.bind(link.sent, compare.sent);
    graph_.bind(bch.result, compare.bch);
    graph_.bind(compare.counts, monitor_->counts);
}

BerCounts BerTrial::run(int threads, std::stop_token stop) {
    const RunOptions options{
        .stop = std::move(stop),
        .statistics = false,
        .numbers = {.first = (first_frame_ + monitor_->total().frames) / frames_per_turn_}};
    if (threads > 1) {
        Pipeline(graph_, schedule_of(structure_of(graph_).units.size(), threads)).run(options);
    } else {
        Sequence(graph_).run(options);
    }
    return monitor_->total();
}

}  // namespace tidemill::dvbs2
