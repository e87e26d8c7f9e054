#include "tidemill/cli/rehearsal.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>

#include <fmt/format.h>
#include <sys/prctl.h>

#include "tidemill/cli/cli_error.hpp"
#include "tidemill/run/pipeline.hpp"
#include "tidemill/run/real_threads.hpp"

namespace tidemill::cli {

namespace {

using Clock = std::chrono::steady_clock;

void sleep_us(double time_us) {
    timespec left{0, std::lround(time_us * 1e3)};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
    }
}

// Whoever ends the rehearsal need not wait for a task that takes a day.
void wait_us(double time_us, const std::atomic<bool>& ended) {
    constexpr double kLookUs = 1e5;
    for (; time_us > kLookUs && !ended; time_us -= kLookUs) sleep_us(kLookUs);
    if (!ended) sleep_us(time_us);
}

void spin_us(double time_us, const std::atomic<bool>& ended) {
    const auto end = Clock::now() + std::chrono::duration<double, std::micro>(time_us);
    while (Clock::now() < end && !ended) RealThreads::relax();
}

template <class Number>
bool parse_all(std::string_view text, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

CostChange parse_cost_change(const std::string& text) {
    const std::string_view all = text;
    const std::size_t colon = all.find(':');
    const std::size_t equals = all.rfind('=');
    CostChange change;
    if (colon == std::string_view::npos || equals == std::string_view::npos || equals < colon ||
        !parse_all(all.substr(0, colon), change.frame) || !parse_all(all.substr(equals + 1), change.factor) ||
        !std::isfinite(change.factor) || change.factor < 0) {
        throw WrongUsage(
            fmt::format("--change {}: write FRAME:TASK=FACTOR, for instance 200:decode=3", text));
    }
    change.task = all.substr(colon + 1, equals - colon - 1);
    return change;
}

Profile stretched(Profile profile, const Schedule& schedule, double to_period_us) {
    const double factor = to_period_us / period_us(schedule, profile);
    for (ChainTask& task : profile.tasks) {
        for (double& weight_us : task.weight_us) weight_us *= factor;
    }
    return profile;
}

Rehearsal::Rehearsal(Chain chain, Pastime pastime, std::vector<CostChange> changes,
                     std::function<void(std::uint64_t)> arrived)
    : chain_(std::move(chain)),
      pastime_(pastime),
      changes_(std::move(changes)),
      arrived_(std::move(arrived)),
      kinds_(chain_.tasks.size()),
      graph_("rehearsal") {
    for (const CostChange& change : changes_) {
        if (std::ranges::find(chain_.tasks, change.task, &ChainTask::name) != chain_.tasks.end()) continue;
        throw WrongUsage(fmt::format("--change: the chain has no task '{}'", change.task));
    }
    for (std::size_t task = 0; task < chain_.tasks.size(); ++task) {
        add(task, task > 0 ? &graph_.module(task - 1) : nullptr);
    }
}

void Rehearsal::add(std::size_t index, const Module* before) {
    const ChainTask& timed = chain_.tasks[index];
    if (!before) {
        graph_.add(task(timed.name, out<std::uint64_t>("frame"),
                        [this, next = std::uint64_t{0}](auto frame) mutable {
                            frame[0] = next++;
                            pass_time(0, frame[0]);
                        }));
        return;
    }
    const bool last = index + 1 == chain_.tasks.size();
    const auto work = [this, index, last](std::span<std::uint64_t> frame) {
        pass_time(index, frame[0]);
        if (last && arrived_) arrived_(frame[0]);
    };
    const auto made = [&](auto word) {
        return task(timed.name, word, forward<std::uint64_t>("frame"), work);
    };
    auto& added = graph_.add(timed.replicable ? made(pure) : made(sequential));
    graph_.bind((*before)["frame"], added["frame"]);
}

void Rehearsal::follow(const Schedule& schedule) {
    check_not_mixed(schedule);
    for (const Stage& stage : schedule.stages) {
        const std::size_t kind = chain_.kind_index(stage.core_kind);
        for (std::size_t i = 0; i < stage.task_count; ++i) {
            kinds_[stage.first_task + i].store(kind, std::memory_order_relaxed);
        }
    }
}

void Rehearsal::pass_time(std::size_t index, std::uint64_t frame) const {
    double time_us = chain_.tasks[index].weight_us[kinds_[index].load(std::memory_order_relaxed)];
    for (const CostChange& change : changes_) {
        if (change.task == chain_.tasks[index].name && frame >= change.frame) time_us *= change.factor;
    }
    pastime_ == Pastime::waiting ? wait_us(time_us, ended_) : spin_us(time_us, ended_);
}

ExactTimers::ExactTimers() : before_(prctl(PR_GET_TIMERSLACK)) {
    prctl(PR_SET_TIMERSLACK, 1UL);
}

ExactTimers::~ExactTimers() {
    prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(before_));
}

double waiting_period_us(const Schedule& schedule, const Chain& chain, std::uint64_t frames) {
    std::vector<Clock::time_point> times(frames);
    std::atomic<std::uint64_t> count{0};
    Rehearsal rehearsal(chain, Pastime::waiting, {}, [&](std::uint64_t frame) {
        times.at(frame) = Clock::now();
        ++count;
    });
    rehearsal.follow(schedule);
    Schedule nameless = schedule;  // the graph calls its units after modules and tasks
    nameless.task_names.clear();
    const ExactTimers exact;
    Pipeline(rehearsal.graph(), nameless).run({.frames = frames});
    if (count != frames) throw JobFailed(fmt::format("{} frames arrived of {}", count.load(), frames));
    const std::uint64_t half = frames / 2;
    const std::chrono::duration<double, std::micro> time = times[frames - 1] - times[half - 1];
    return time.count() / static_cast<double>(frames - half);
}

}  // namespace tidemill::cli
