#include "tidemill/scheduling/model/simulator.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/scheduling/model/internal/core_work.hpp"
#include "tidemill/scheduling/model/internal/frame_times.hpp"
#include "tidemill/scheduling/model/internal/jitter.hpp"
#include "tidemill/scheduling/static/interruption.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"

namespace tidemill {

namespace {

using internal::Agenda;
using internal::CoreWork;
using internal::Step;

// Frames after which all repeats; more than there are where that takes long.
std::uint64_t group_of(const PipelineModel& model, std::uint64_t frames) {
    std::uint64_t group = model.tokens;
    for (const StageModel& stage : model.stages) {
        if (group > frames / 2) break;
        group = std::lcm(group, std::lcm<std::uint64_t>(stage.turns().round(), stage.work_us.size()));
    }
    return group;
}

class Simulation {
  public:
    Simulation(const PipelineModel& model, std::uint64_t frames,
               const std::function<void(const SimStep&)>& observe)
        : model_(model),
          frames_(frames),
          observe_(observe),
          work_(model.cores),
          tokens_(std::min<std::uint64_t>(model.tokens, frames)),
          times_(frames, model.tokens, group_of(model, frames)),
          step_begun_us_(model.stages.size()) {
        for (const StageModel& stage : model.stages) add_stage(stage);
    }

    SimReport run() {
        for (std::uint64_t frame = 0; frame < tokens_.size(); ++frame) arrive({0, frame});
        while (next_event()) interruption_point();
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

    // False when nothing is left to happen. What arrives as a step ends comes after it.
    bool next_event() {
        const double arrival_us = arrivals_.empty() ? internal::kNever : arrivals_.top().time;
        const CoreWork::NextEnd end = work_.next_end();
        if (std::min(arrival_us, end.time_us) == internal::kNever) return false;
        work_.pass_time_until(std::min(arrival_us, end.time_us));
        end.time_us <= arrival_us ? end_step(end.kind) : end_hop();
        return true;
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
        work_.begin(model.kind_of(thread), halves(model), work_us, order_++, {stage, frame});
        step_begun_us_[stage][thread] = work_.now_us();
        if (stage == 0) times_.begin(frame, work_.now_us());
    }

    void end_step(std::size_t kind) {
        const auto [stage, frame] = work_.end(kind);
        const std::size_t thread = turns_[stage].thread_of(frame);
        record({stage, thread, frame, step_begun_us_[stage][thread], work_.now_us()});
        hand_over(stage, frame);
        next_frames_[stage][thread] = turns_[stage].next(frame);
        go_on(threads_[seats_[stage][thread]]);
    }

    void record(const SimStep& step) {
        SimStageReport& stage = report_.stages[step.stage];
        ++stage.frames;
        stage.work_us += step.end_us - step.begin_us;
        threads_[seats_[step.stage][step.thread]].work_us += step.end_us - step.begin_us;
        if (step.stage + 1 == model_.stages.size()) times_.end(step.frame, step.end_us);
        if (observe_) observe_(step);
    }

    void hand_over(std::size_t stage, std::uint64_t frame) {
        const bool last = stage + 1 == model_.stages.size();
        const Step next = last ? Step{0, frame + model_.tokens} : Step{stage + 1, frame};
        if (next.frame >= frames_) return;
        // A stage of its own hands tokens to itself.
        if (model_.stages.size() == 1 || model_.hop_latency_us == 0) return arrive(next);
        arrivals_.push({work_.now_us() + model_.hop_latency_us, order_++, next});
    }

    void finish_report() {
        report_.frames = frames_;
        report_.tokens = model_.tokens;
        const double now_us = work_.now_us();
        report_.elapsed_us = now_us;
        report_.period_us = times_.period_us();
        report_.latency = times_.latency();
        double watts_us = model_.unused_w * now_us;
        for (SimStageReport& stage : report_.stages) {
            const double there_us = static_cast<double>(stage.threads) * now_us;
            stage.occupancy = there_us > 0 ? stage.work_us / there_us : 0;
        }
        report_owners();
        for (const Thread& thread : threads_) watts_us += watts_us_of(thread);
        report_.energy_j = watts_us / 1e6;
        report_.mean_w = now_us > 0 ? watts_us / now_us : 0;
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
            owner.occupancy = work_.now_us() > 0 ? thread.work_us / work_.now_us() : 0;
        }
    }

    double watts_us_of(const Thread& thread) const {
        const Seat seat = thread.seats.front();
        const StageModel& stage = model_.stages[seat.stage];
        const KindCosts& core = model_.cores[stage.kind_of(seat.thread)];
        const double waits_us = work_.now_us() - thread.work_us;
        return halves(stage) / 2.0 *
               (thread.work_us * core.busy_w + waits_us * (stage.spins ? core.busy_w : core.idle_w));
    }

    const PipelineModel& model_;
    std::uint64_t frames_;
    const std::function<void(const SimStep&)>& observe_;
    std::uint64_t order_ = 0;
    CoreWork work_;
    std::vector<Token> tokens_;
    internal::FrameTimes times_;
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
