#include "tidemill/runtime/execute/relay.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "tidemill/runtime/execute/stream_run.hpp"

namespace tidemill {

Relay::Relay(Graph& graph)
    : graph_(graph),
      graph_size_(graph.size()),
      structure_(structure_of(graph)),
      knobs_(KnobBook::of(graph)) {}

void Relay::relieve() {
    const std::lock_guard lock(mutex_);
    if (running_) running_->halt();
}

void Relay::set_running(std::shared_ptr<StretchRunner> runner) {
    const std::lock_guard lock(mutex_);
    running_ = std::move(runner);
}

Stretch Relay::run_leg(const Leg& leg, const RunOptions& wanted, StreamRun& stream) {
    RunOptions options = wanted;
    if (wanted.frames != kEndless) options.frames = wanted.frames - totals_.frames;
    options.frames = std::min(options.frames, leg.frames);
    options.observers.insert(options.observers.end(), leg.observers.begin(), leg.observers.end());
    if (leg.is_over) {
        options.stop_when = [&] {
            bool is_over = false;
            stream.guarded([&] { is_over = leg.is_over(); });
            if (is_over) leg.runner->halt();
            return wanted.stop_when && wanted.stop_when();
        };
    }
    return leg.runner->run_stretch(options, stream);
}

RunReport Relay::run(const RunOptions& wanted, const Next& next) {
    StreamRun stream({graph_, graph_size_, structure_, *knobs_, wishes_}, wanted, /*anew=*/true,
                     [this] { relieve(); });
    const RunOptions options = stream.options(wanted);
    totals_ = {};
    done_ = {};
    std::vector<double> bubbles_us;
    Leg leg;
    StretchEnd end = StretchEnd::open;
    Clock::time_point last = Clock::now();
    do {
        leg = next(leg.runner ? &done_ : nullptr);
        set_running(leg.runner);
        Stretch stretch = run_leg(leg, options, stream);
        set_running(nullptr);
        const Clock::time_point now = Clock::now();
        const std::chrono::duration<double> elapsed = now - std::exchange(last, now);
        done_ = {std::move(stretch.report), elapsed.count()};
        const std::vector<double>& more = done_.report.bubbles_us;
        bubbles_us.insert(bubbles_us.end(), more.begin(), more.end());
        totals_.add(stretch.totals);
        end = stretch.end;
    } while (end == StretchEnd::open && totals_.frames < options.frames);
    stream.has_begun_all(end == StretchEnd::by_task);
    leg.runner->end_stream(options, stream, totals_);
    RunReport report = done_.report;
    report.bubbles_us = std::move(bubbles_us);
    stream.finish(report);
    report_totals(structure_, totals_, report);
    return report;
}

}  // namespace tidemill
