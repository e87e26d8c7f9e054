#pragma once

#include <string>

#include <doctest/doctest.h>

#include "tidemill/runtime/verify/testing/explored_pipeline.hpp"

/// Searches of pipelines as tests make them.
namespace tidemill::explore {

inline std::string text_of(const Scenario& scenario) {
    static constexpr const char* kWaiting[] = {"passive", "active", "mixed"};
    std::string text = kWaiting[static_cast<std::size_t>(scenario.waiting)];
    for (const StageShape& stage : scenario.stages) {
        text += fmt::format(" {}{}", stage.threads, stage.ends_segment ? "|" : "");
        for (const std::size_t thread : stage.letters) text += fmt::format(".{}", thread);
        for (const int owner : stage.owners) text += fmt::format("@{}", owner);
    }
    text += fmt::format(", {}+{} tokens, {} frames", scenario.tokens[0], scenario.tokens[1], scenario.frames);
    for (const Event& e : scenario.events) {
        text += fmt::format(", {} at {}.{}.{}", e.flow, e.segment, e.stage, e.frame);
    }
    for (const std::string& flows : scenario.emissions) text += " " + flows;
    return text + (scenario.halted_by_user ? ", halted" : "");
}

/// Counts what was searched, and prints it: a search that shrank is no proof any more.
class Searches {
  public:
    explicit Searches(const char* name) : name_(name) {}
    ~Searches() { fmt::print("explorer: {}: {} scenarios, {} states\n", name_, scenarios_, states_); }

    template <typename Memory = SequentialMemory>
    void expect_no_fault(const Scenario& scenario, Settings settings = {}) {
        CAPTURE(text_of(scenario));
        const Verdict verdict = count(ExploredPipeline(scenario).search<Memory>(settings));
        for (const std::string& line : verdict.trace) fmt::print("  {}\n", line);
        CHECK(verdict.fault == "");
    }

    void expect_caught(const Scenario& scenario) {
        CAPTURE(text_of(scenario));
        CHECK(count(ExploredPipeline(scenario).search<SequentialMemory>({})).fault != "");
    }

    template <typename Memory>
    void sample(const Scenario& scenario, std::uint64_t seed) {
        CAPTURE(seed);
        CAPTURE(text_of(scenario));
        CHECK(count(ExploredPipeline(scenario).sample<Memory>(seed, 20, {.wakes_by_itself = true})).fault ==
              "");
    }

    template <typename Memory = SequentialMemory>
    void expect_fault(Scenario scenario, const Mutation& mutation, const std::string& fault) {
        CAPTURE(text_of(scenario));
        const Verdict verdict = count(ExploredPipeline(scenario, mutation).search<Memory>());
        CHECK(verdict.fault.find(fault) != std::string::npos);
        if (verdict.fault.find(fault) == std::string::npos) fmt::print("  found: '{}'\n", verdict.fault);
        scenario.emits_skipped = false;
        CHECK(ExploredPipeline(scenario).search<Memory>().fault == "");
    }

  private:
    const Verdict& count(const Verdict& verdict) {
        ++scenarios_;
        states_ += verdict.states;
        return verdict;
    }

    const char* name_;
    std::size_t scenarios_ = 0;
    std::size_t states_ = 0;
};

}  // namespace tidemill::explore
