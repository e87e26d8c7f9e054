#include "tidemill/lab/rehearsal.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>

#include <fmt/format.h>
#include <sys/prctl.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/threads/real_threads.hpp"

namespace tidemill::cli {

namespace {

using Clock = std::chrono::steady_clock;

void sleep_us(double time_us) {
    timespec left{0, std::lround(time_us * 1e3)};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
    }
}

// The end of the rehearsal need not wait for a task that takes a day.
void wait_us(double time_us, const std::atomic<bool>& ended) {
    constexpr double kLookUs = 1e5;
    for (; time_us > kLookUs && !ended; time_us -= kLookUs) sleep_us(kLookUs);
    if (!ended) sleep_us(time_us);
}

void spin_us(double time_us, const std::atomic<bool>& ended) {
    const auto end = Clock::now() + std::chrono::duration<double, std::micro>(time_us);
    while (Clock::now() < end && !ended) RealThreads::relax();
}

// Number of the thread of its stage that runs a task here.
thread_local std::size_t own_seat = 0;

class Seat final : public ThreadObserver {
  public:
    explicit Seat(std::size_t number) : number_(number) {}
    void calling(const OrderedTask& /*task*/, std::uint64_t /*frame*/) override { own_seat = number_; }

  private:
    std::size_t number_;
};

// Frames carry their numbers, so any thread may begin them.
class RehearsedSource final : public Module {
  public:
    RehearsedSource(const ChainTask& timed, std::function<void(std::uint64_t)> passes_time)
        : Module(timed.name), passes_time_(std::move(passes_time)) {
        const Replication replication = timed.replicable ? Replication::pure : Replication::sequential;
        task(timed.name, &RehearsedSource::begin_frame, TaskOptions{.replication = replication});
    }

  private:
    void begin_frame(Frame f) const {
        f[frame_][0] = f.number();
        passes_time_(f.number());
    }

    Out<std::uint64_t> frame_ = out<std::uint64_t>("frame");
    std::function<void(std::uint64_t)> passes_time_;
};

// Where nobody says which cores a task has.
std::size_t first_kind_of(const ChainTask& task) {
    const auto runs = [](double weight_us) { return weight_us != kCannotRun; };
    return static_cast<std::size_t>(std::ranges::find_if(task.weight_us, runs) - task.weight_us.begin());
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
        for (auto& kind : kinds_[task]) kind = first_kind_of(chain_.tasks[task]);
    }
}

void Rehearsal::add(std::size_t index, const Module* before) {
    const ChainTask& timed = chain_.tasks[index];
    const bool last = index + 1 == chain_.tasks.size();
    const auto pass = [this, index, last](std::uint64_t frame) {
        pass_time(index, frame);
        if (last && arrived_) arrived_(frame);
    };
    if (!before) {
        graph_.add<RehearsedSource>(timed, pass);
        return;
    }
    const auto work = [pass](std::span<std::uint64_t> frame) { pass(frame[0]); };
    const auto made = [&](auto word) {
        return task(timed.name, word, forward<std::uint64_t>("frame"), work);
    };
    auto& added = graph_.add(timed.replicable ? made(pure) : made(sequential));
    graph_.bind((*before)["frame"], added["frame"]);
}

void Rehearsal::follow(const Schedule& schedule) {
    for (const Stage& stage : schedule.stages) {
        for (std::size_t seat = 0; seat < kMostLetters; ++seat) {
            const bool is_mixed = stage.word && seat < stage.word->kinds.size();
            const std::string name = is_mixed ? stage.word->kinds[seat] : stage.cores().front().kind;
            for (std::size_t task = stage.first_task; task < stage.first_task + stage.task_count; ++task)
                kinds_[task][seat].store(
                    name.empty() ? first_kind_of(chain_.tasks[task]) : chain_.kind_index(name),
                    std::memory_order_relaxed);
        }
    }
}

std::vector<Observer*> Rehearsal::observers() {
    if (chain_.kinds.size() < 2) return {};
    return {&seats_};
}

ThreadObserver& Rehearsal::Seats::watch(const ObservedThread& thread) {
    return *seats_.emplace_back(std::make_unique<Seat>(thread.replica % kMostLetters));
}

void Rehearsal::pass_time(std::size_t index, std::uint64_t frame) const {
    const std::size_t kind = kinds_[index][own_seat].load(std::memory_order_relaxed);
    double time_us = chain_.tasks[index].weight_us[kind];
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
    Pipeline(rehearsal.graph(), nameless).run({.frames = frames, .observers = rehearsal.observers()});
    if (count != frames) throw JobFailed(fmt::format("{} frames arrived of {}", count.load(), frames));
    const std::uint64_t half = frames / 2;
    const std::chrono::duration<double, std::micro> time = times[frames - 1] - times[half - 1];
    return time.count() / static_cast<double>(frames - half);
}

}  // namespace tidemill::cli
