#include "tidemill/sim/simulator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <queue>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/schedule/schedule_error.hpp"
#include "tidemill/sim/internal/jitter.hpp"

namespace tidemill {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Earlier first; among equals, in the order in which they were added.
template <class What>
struct Timed {
    double time;
    std::uint64_t order;
    What what;

    bool operator>(const Timed& other) const {
        return time != other.time ? time > other.time : order > other.order;
    }
};
template <class What>
using Agenda = std::priority_queue<Timed<What>, std::vector<Timed<What>>, std::greater<>>;

struct Step {
    std::size_t stage;
    std::uint64_t frame;
};

// Cores of one kind do work at a common speed. Work ends when the work that each of them has done since the
// beginning reaches a mark, so a change of speed moves no mark.
struct Kind {
    double work_done_us = 0;
    int busy_halves = 0;  // of its cores
    Agenda<Step> ends{};  // by mark
};

class Simulation {
  public:
    Simulation(const PipelineModel& model, std::uint64_t frames,
               const std::function<void(const SimStep&)>& observe)
        : model_(model),
          frames_(frames),
          observe_(observe),
          kinds_(model.cores.size()),
          tokens_(std::min<std::uint64_t>(model.tokens, frames)),
          begun_us_(frames),
          left_us_(frames),
          step_begun_us_(model.stages.size()) {
        for (const StageModel& stage : model.stages) add_stage(stage);
    }

    SimReport run() {
        for (std::uint64_t frame = 0; frame < tokens_.size(); ++frame) arrive({0, frame});
        while (next_event()) {
        }
        finish_report();
        return std::move(report_);
    }

  private:
    // Where the token of a frame is.
    struct Token {
        std::uint64_t frame = 0;
        std::size_t stage = 0;
        bool handed = false;  // waits for the stage's thread
    };

    // A thread, with its places in stages.
    struct Thread {
        std::vector<Seat> seats{};
        bool busy = false;
        double work_us = 0;
    };

    double speed(std::size_t kind) const {
        return 1 / slowdown(model_.cores[kind], (kinds_[kind].busy_halves + 1) / 2);
    }

    void add_stage(const StageModel& stage) {
        const Turns& turns = turns_.emplace_back(stage.turns());
        const std::size_t number = turns_.size() - 1;
        std::vector<std::uint64_t>& next = next_frames_.emplace_back();
        for (std::size_t thread = 0; thread < stage.threads; ++thread) {
            next.push_back(turns.first(thread));
            add_seat({number, thread}, stage);
        }
        step_begun_us_[number].resize(stage.threads);
        report_.stages.push_back({stage.threads, kind_names(stage)});
    }

    void add_seat(Seat seat, const StageModel& stage) {
        std::size_t thread = threads_.size();
        if (!stage.owners.empty()) thread = owners_.emplace(stage.owners[seat.thread], thread).first->second;
        if (thread == threads_.size()) threads_.emplace_back();
        threads_[thread].seats.push_back(seat);
        if (seat.thread == 0) seats_.emplace_back();
        seats_.back().push_back(thread);
    }

    std::string kind_names(const StageModel& stage) const {
        std::vector<std::string> names;
        for (std::size_t thread = 0; thread < std::max<std::size_t>(1, stage.kinds.size()); ++thread) {
            const std::string& name = model_.cores[stage.kind_of(thread)].kind;
            if (std::ranges::find(names, name) == names.end()) names.push_back(name);
        }
        return fmt::format("{}", fmt::join(names, "+"));
    }

    static int halves(const StageModel& stage) { return stage.shares_core ? 1 : 2; }

    double next_end_us(std::size_t kind) const {
        if (kinds_[kind].ends.empty()) return kNever;
        const double left_us = kinds_[kind].ends.top().time - kinds_[kind].work_done_us;
        return now_us_ + std::max(left_us, 0.0) / speed(kind);
    }

    // False when nothing is left to happen.
    bool next_event() {
        double next_us = arrivals_.empty() ? kNever : arrivals_.top().time;
        std::size_t ending = kinds_.size();
        for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
            if (next_end_us(kind) > next_us || kinds_[kind].ends.empty()) continue;
            next_us = next_end_us(kind);
            ending = kind;
        }
        if (next_us == kNever) return false;
        pass_time_until(next_us);
        ending < kinds_.size() ? end_step(ending) : end_hop();
        return true;
    }

    void pass_time_until(double time_us) {
        for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
            if (kinds_[kind].busy_halves > 0) kinds_[kind].work_done_us += (time_us - now_us_) * speed(kind);
        }
        now_us_ = time_us;
    }

    void end_hop() {
        const Step step = arrivals_.top().what;
        arrivals_.pop();
        arrive(step);
    }

    void arrive(Step step) {
        tokens_[step.frame % tokens_.size()] = {step.frame, step.stage, true};
        try_begin(step.stage, turns_[step.stage].thread_of(step.frame));
    }

    void try_begin(std::size_t stage, std::size_t thread) {
        Thread& worker = threads_[seats_[stage][thread]];
        const std::uint64_t frame = next_frames_[stage][thread];
        if (worker.busy || frame >= frames_) return;
        Token& token = tokens_[frame % tokens_.size()];
        if (!token.handed || token.frame != frame || token.stage != stage) return;
        token.handed = false;
        worker.busy = true;
        begin(stage, thread, frame);
    }

    // Furthest downstream first.
    void go_on(Thread& thread) {
        thread.busy = false;
        for (auto seat = thread.seats.rbegin(); seat != thread.seats.rend() && !thread.busy; ++seat)
            try_begin(seat->stage, seat->thread);
    }

    void begin(std::size_t stage, std::size_t thread, std::uint64_t frame) {
        const StageModel& model = model_.stages[stage];
        const double work_us = model.work_us[frame % model.work_us.size()] *
                               internal::jitter_factor(model_.jitter, model_.seed, stage, frame);
        Kind& kind = kinds_[model.kind_of(thread)];
        kind.busy_halves += halves(model);
        kind.ends.push({kind.work_done_us + work_us, order_++, {stage, frame}});
        step_begun_us_[stage][thread] = now_us_;
        if (stage == 0) begun_us_[frame] = now_us_;
    }

    void end_step(std::size_t kind_index) {
        Kind& kind = kinds_[kind_index];
        const auto [stage, frame] = kind.ends.top().what;
        kind.work_done_us = kind.ends.top().time;  // leaves no rounding behind
        kind.ends.pop();
        kind.busy_halves -= halves(model_.stages[stage]);
        const std::size_t thread = turns_[stage].thread_of(frame);
        record({stage, thread, frame, step_begun_us_[stage][thread], now_us_});
        hand_over(stage, frame);
        next_frames_[stage][thread] = turns_[stage].next(frame);
        go_on(threads_[seats_[stage][thread]]);
    }

    void record(const SimStep& step) {
        SimStageReport& stage = report_.stages[step.stage];
        ++stage.frames;
        stage.work_us += step.end_us - step.begin_us;
        threads_[seats_[step.stage][step.thread]].work_us += step.end_us - step.begin_us;
        if (step.stage + 1 == model_.stages.size()) left_us_[step.frame] = step.end_us;
        if (observe_) observe_(step);
    }

    void hand_over(std::size_t stage, std::uint64_t frame) {
        const bool last = stage + 1 == model_.stages.size();
        const Step next = last ? Step{0, frame + model_.tokens} : Step{stage + 1, frame};
        if (next.frame >= frames_) return;
        // A stage of its own hands tokens to itself.
        if (model_.stages.size() == 1 || model_.hop_latency_us == 0) return arrive(next);
        arrivals_.push({now_us_ + model_.hop_latency_us, order_++, next});
    }

    void finish_report() {
        report_.frames = frames_;
        report_.tokens = model_.tokens;
        report_.elapsed_us = now_us_;
        report_.period_us = full_period_us();
        report_.latency = latency();
        double watts_us = model_.unused_w * now_us_;
        for (SimStageReport& stage : report_.stages) {
            const double there_us = static_cast<double>(stage.threads) * now_us_;
            stage.occupancy = there_us > 0 ? stage.work_us / there_us : 0;
        }
        report_owners();
        for (const Thread& thread : threads_) watts_us += watts_us_of(thread);
        report_.energy_j = watts_us / 1e6;
        report_.mean_w = now_us_ > 0 ? watts_us / now_us_ : 0;
        report_.mj_per_frame = watts_us / 1e3 / static_cast<double>(frames_);
    }

    void report_owners() {
        for (const auto& [number, place] : owners_) {
            const Thread& thread = threads_[place];
            SimOwnerReport& owner = report_.owners.emplace_back();
            owner.name = number < model_.owner_names.size() ? model_.owner_names[number]
                                                            : fmt::format("thread {}", number);
            for (const Seat& seat : thread.seats) owner.stages.push_back(seat.stage);
            owner.work_us = thread.work_us;
            owner.occupancy = now_us_ > 0 ? thread.work_us / now_us_ : 0;
        }
    }

    double watts_us_of(const Thread& thread) const {
        const Seat seat = thread.seats.front();
        const StageModel& stage = model_.stages[seat.stage];
        const KindCosts& core = model_.cores[stage.kind_of(seat.thread)];
        const double waits_us = now_us_ - thread.work_us;
        return halves(stage) / 2.0 *
               (thread.work_us * core.busy_w + waits_us * (stage.spins ? core.busy_w : core.idle_w));
    }

    // Frames of a replicated stage come in groups, so whole groups are counted.
    double full_period_us() const {
        std::uint64_t group = model_.tokens;
        for (std::size_t s = 0; s < turns_.size() && group <= frames_ / 2; ++s)
            group =
                std::lcm(group, std::lcm<std::uint64_t>(turns_[s].round(), model_.stages[s].work_us.size()));
        if (frames_ < 2) return now_us_;
        const std::uint64_t half = frames_ / 2;
        const std::uint64_t counted = group <= half ? half / group * group : half;
        return (all_left_us(frames_) - all_left_us(frames_ - counted)) / static_cast<double>(counted);
    }

    // When so many frames had left: a thread that has less to do than others may be ahead of them.
    double all_left_us(std::uint64_t frames) const {
        return *std::max_element(left_us_.begin(), left_us_.begin() + static_cast<std::ptrdiff_t>(frames));
    }

    SimLatency latency() const {
        std::vector<double> latencies(frames_);
        std::ranges::transform(left_us_, begun_us_, latencies.begin(), std::minus<>{});
        std::ranges::sort(latencies);
        const auto at = [&](double share) {
            return latencies[static_cast<std::size_t>(std::lround(share * static_cast<double>(frames_ - 1)))];
        };
        const double sum = std::accumulate(latencies.begin(), latencies.end(), 0.0);
        return {sum / static_cast<double>(frames_), at(0), at(0.5), at(0.95), at(0.99), at(1)};
    }

    const PipelineModel& model_;
    std::uint64_t frames_;
    const std::function<void(const SimStep&)>& observe_;
    double now_us_ = 0;
    std::uint64_t order_ = 0;
    std::vector<Kind> kinds_;
    std::vector<Token> tokens_;
    std::vector<double> begun_us_;
    std::vector<double> left_us_;
    std::vector<Turns> turns_;                             // per stage
    std::vector<std::vector<std::uint64_t>> next_frames_;  // per stage and thread
    std::vector<std::vector<double>> step_begun_us_;       // per stage and thread
    std::vector<std::vector<std::size_t>> seats_;          // whose, per stage and thread
    std::vector<Thread> threads_;
    std::map<std::size_t, std::size_t> owners_;  // in threads_, by the model's numbers
    Agenda<Step> arrivals_;
    SimReport report_;
};

}  // namespace

SimReport simulate(const PipelineModel& model, std::uint64_t frames,
                   const std::function<void(const SimStep&)>& observe) {
    check(model);
    if (frames == 0) throw ScheduleError("a simulation needs at least one frame");
    return Simulation(model, frames, observe).run();
}

}  // namespace tidemill
