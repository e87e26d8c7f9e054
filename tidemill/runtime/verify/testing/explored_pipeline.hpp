#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tidemill/runtime/execute/stage_choice.hpp"
#include "tidemill/runtime/verify/testing/pipeline_judge.hpp"

namespace tidemill::explore {

/// A scenario made ready: the run that all its threads share, and a table of each.
class ExploredPipeline {
  public:
    explicit ExploredPipeline(const Scenario& scenario, const Mutation& mutation = {}) : scenario_(scenario) {
        number_stages();
        {
            const RunsOn on(workshop_);
            run_ = std::make_unique<ExploredRun>(ring_shapes(), scenario_.waiting != WaitMode::active);
            if (scenario_.late == Late::wait) run_->ring(0).close(scenario_.frames);
            seat_threads();
            add_places();
        }
        judge_.emplace(scenario_, *run_, stages_);
        const auto add = [&](std::function<void()> code) {
            threads_.emplace_back(threads_.size(), std::move(code), mutation);
        };
        for (const Thread& thread : explored_) add([this, &thread] { work(thread); });
        for (Elsewhere& place : elsewhere_) add([&place] { place.run(); });
        if (scenario_.halted_by_user) add([this] { run_->halt(); });
    }
    ExploredPipeline(const ExploredPipeline&) = delete;
    ExploredPipeline& operator=(const ExploredPipeline&) = delete;

    template <typename Memory>
    Verdict search(Settings settings = {}) {
        return Search<Memory>(threads_, workshop_.words(), *judge_, settings).search();
    }

    template <typename Memory>
    Verdict sample(std::uint64_t seed, int runs, Settings settings = {}) {
        return Search<Memory>(threads_, workshop_.words(), *judge_, settings).sample(seed, runs);
    }

  private:
    template <typename Memory>
    using Search = Interleavings<Memory, PipelineJudge>;

    struct Role {
        std::size_t stage;  // of the pipeline
        std::size_t replica;
        std::vector<ExploredWalk::Part> parts;
    };

    // With a bell where it has several roles.
    struct Thread {
        std::vector<Role> roles{};
        Bell<ExploredThreads>* bell = nullptr;
    };

    // The stage that ends a segment is the next one's first.
    void number_stages() {
        std::uint32_t segment = 0;
        std::uint32_t stage_index = 0;
        for (std::size_t s = 0; s < scenario_.stages.size(); ++s) {
            std::vector<ExploredWalk::Part> parts{{segment, stage_index++}};
            if (scenario_.stages[s].ends_segment) {
                stages_[segment++] = stage_index;
                parts.push_back({segment, 0});
                stage_index = 1;
            }
            for (int r = 0; r < scenario_.stages[s].threads; ++r) {
                roles_.push_back({s, static_cast<std::size_t>(r), parts});
            }
        }
        stages_[segment] = stage_index;
    }

    std::vector<RingShape> ring_shapes() const {
        std::vector<RingShape> shapes;
        for (std::size_t s = 0; s < 2 && stages_[s] > 0; ++s) {
            shapes.push_back({{scenario_.tokens[s], 1, 1}, stages_[s]});
        }
        return shapes;
    }

    void seat_threads() {
        std::map<int, std::size_t> owners;
        for (const Role& role : roles_) {
            const std::vector<int>& named = scenario_.stages[role.stage].owners;
            std::size_t thread = explored_.size();
            if (!named.empty()) thread = owners.emplace(named[role.replica], thread).first->second;
            if (thread == explored_.size()) explored_.emplace_back();
            explored_[thread].roles.push_back(role);
        }
        for (Thread& thread : explored_) {
            if (thread.roles.size() < 2) continue;
            thread.bell = &bells_.emplace_back();
            for (const Role& role : thread.roles)
                for (const ExploredWalk::Part& part : role.parts)
                    run_->ring(part.segment)
                        .ring_for(part.stage_index, scenario_.stages[role.stage].turns_of(role.replica),
                                  role.replica, *thread.bell);
        }
    }

    // One thread each: they are done in any order.
    void add_places() {
        for (const Role& role : roles_) {
            const std::uint32_t under_way = scenario_.stages[role.stage].under_way;
            std::vector<Elsewhere*>& places = places_[{role.stage, role.replica}];
            for (std::uint32_t i = 0; under_way > 1 && i < under_way; ++i)
                places.push_back(&elsewhere_.emplace_back());
        }
    }

    ExploredWalk::Options options_of(const Role& role) const {
        ExploredWalk::Options options;
        options.begins = role.stage == 0;
        options.replica = role.replica;
        options.turns = scenario_.stages[role.stage].turns_of(role.replica);
        options.pull = options.push = scenario_.waiting;
        options.drops_late = options.begins && scenario_.late != Late::wait;
        options.drops_oldest = options.begins && scenario_.late == Late::drop_oldest;
        options.claims = scenario_.late == Late::drop_oldest;
        options.gather = scenario_.stages[role.stage].batch;
        if (options.drops_late) options.source_end = scenario_.frames;
        return options;
    }

    void work(const Thread& thread) {
        std::deque<ExploredWalk> walks;
        std::deque<ExploredWork> works;
        Desk desk;
        for (const Role& role : thread.roles) {
            ExploredWalk& walk = walks.emplace_back(*run_, options_of(role), role.parts);
            desk.push_back(
                &works.emplace_back(scenario_, *run_, walk, role.stage, stages_[run_->segments() - 1] - 1));
            works.back().sends_to(places_.at({role.stage, role.replica}));
        }
        if (!thread.bell) {
            walks.front().run(works.front());
            return works.front().leaves();
        }
        StageChoice::Steps stages;
        for (std::size_t i = 0; i < walks.size(); ++i) {
            works[i].sits_at(desk);
            stages.push_back([this, &walk = walks[i], &work = works[i]] { return step(walk, work); });
        }
        StageChoice(std::move(stages)).run(*thread.bell, scenario_.waiting, [](auto wait) { wait(); });
    }

    WalkStep step(ExploredWalk& walk, ExploredWork& work) const {
        WalkStep done = walk.step(work);
        while (scenario_.waits_inside && done == WalkStep::waits && work.is_within_frame()) {
            machine->request({Act::yield});
            done = walk.step(work);
        }
        if (done == WalkStep::over) work.is_over();
        return done;
    }

    Scenario scenario_;
    std::array<std::uint32_t, 2> stages_{0, 0};  // per segment
    std::vector<Role> roles_;
    Workshop workshop_;
    std::unique_ptr<ExploredRun> run_;
    std::optional<PipelineJudge> judge_;
    std::deque<Bell<ExploredThreads>> bells_;
    std::deque<Elsewhere> elsewhere_;
    std::map<std::pair<std::size_t, std::size_t>, std::vector<Elsewhere*>> places_;  // of a stage's thread
    std::vector<Thread> explored_;
    std::vector<ThreadTable> threads_;
};

}  // namespace tidemill::explore
