#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/runtime/verify/testing/interleavings.hpp"
#include "tidemill/runtime/verify/testing/pool_runs.hpp"
#include "tidemill/runtime/verify/testing/workshop.hpp"

namespace tidemill::explore {

/// Each task runs once, after those before it; the program goes on when its tasks are done; all leave.
class PoolJudge {
  public:
    struct Ledger {
        std::uint32_t begun = 0;  // tasks, as bits
        std::uint32_t ended = 0;
        std::uint64_t late = 0;  // how often the frame was said to be late
    };

    explicit PoolJudge(const PoolScenario& scenario) : scenario_(scenario), words_(scenario) {}

    std::string name_of(Location at) const { return words_.name_of(at); }
    static bool is_claim(const Operation& /*operation*/) { return false; }
    static bool is_one_look(const Operation& /*done*/, const Operation& /*next*/) { return false; }

    void note(Ledger& ledger, std::size_t /*thread*/, const Operation& operation) const {
        const auto about = static_cast<std::uint32_t>(operation.expected);
        switch (static_cast<PoolTold>(operation.value)) {
            case PoolTold::begins:
                return begin(ledger, about);
            case PoolTold::ends:
                ledger.ended |= 1u << about;
                return;
            case PoolTold::goes_on:
                if (about & ~ledger.ended) throw Violation("the program goes on too soon");
                return;
            case PoolTold::misses_mark:
                throw Violation("a task does not see that one before it skipped the frame");
            case PoolTold::made_late:
                if (++ledger.late > 1) throw Violation("two tasks made the same frame late");
        }
    }

    template <typename Memory>
    void end(const Ledger& ledger, const Memory& memory) const {
        if (ledger.ended != scenario_.all()) throw Violation("a task never ran");
        if (memory.latest(words_.idle_count()) != 0) throw Violation("a worker that has left counts as idle");
    }

  private:
    void begin(Ledger& ledger, std::uint32_t task) const {
        if (ledger.begun >> task & 1) throw Violation("a task runs twice");
        if (scenario_.tasks[task].before & ~ledger.ended) throw Violation("a task runs before another's end");
        ledger.begun |= 1u << task;
    }

    const PoolScenario& scenario_;
    PoolWords words_;
};

/// A scenario made ready: its words, and a table of each thread.
class PoolSearch {
  public:
    explicit PoolSearch(const PoolScenario& scenario, const Mutation& mutation = {})
        : scenario_(scenario), judge_(scenario_) {
        const RunsOn on(workshop_);
        ExploredPool{scenario_};
        for (WorkerId w = 0; w < scenario_.workers(); ++w) {
            if (scenario_.program == Program::helps && w == 0) {
                add([](ExploredPool& pool) { pool.run_program(); }, mutation);
            } else {
                add([w](ExploredPool& pool) { pool.work_as(w); }, mutation);
            }
        }
        if (scenario_.program != Program::visits) return;
        add([](ExploredPool& pool) { pool.run_program(); }, mutation);
    }
    PoolSearch(const PoolSearch&) = delete;
    PoolSearch& operator=(const PoolSearch&) = delete;

    template <typename Memory>
    Verdict search(Settings settings) {
        return Interleavings<Memory, PoolJudge>(threads_, workshop_.words(), judge_, settings).search();
    }

    template <typename Memory>
    Verdict sample(std::uint64_t seed, int runs, Settings settings) {
        return Interleavings<Memory, PoolJudge>(threads_, workshop_.words(), judge_, settings)
            .sample(seed, runs);
    }

  private:
    // State that a thread keeps to itself must not be left from its last run, so each run has a pool of its
    // own.
    void add(std::function<void(ExploredPool&)> code, const Mutation& mutation) {
        const auto run = [this, code = std::move(code)] {
            std::optional<ExploredPool> pool;
            {
                SamePlaces places;
                const RunsOn on(places);
                pool.emplace(scenario_);
            }
            code(*pool);
        };
        threads_.emplace_back(threads_.size(), run, mutation);
    }

    PoolScenario scenario_;
    Workshop workshop_;
    PoolJudge judge_;
    std::vector<ThreadTable> threads_;
};

}  // namespace tidemill::explore
