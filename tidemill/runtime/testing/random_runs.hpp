#pragma once

#include <algorithm>
#include <cstdlib>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/testing/random_graph.hpp"

/// Runs random programs under random schedules and compares with what they mean.
namespace tidemill::internal {

/// A word with a letter for each of so many threads, and up to five more.
inline CyclicWord random_word(std::size_t threads, std::mt19937_64& random) {
    std::vector<std::string> letters;
    for (std::size_t i = 0; i < threads + random() % 6; ++i)
        letters.push_back(fmt::format("big:{}", i < threads ? i : random() % threads));
    std::shuffle(letters.begin(), letters.end(), random);
    return parse_word(letters);
}

/// Has a few threads own several stages, wherever these are.
inline void share_threads(Schedule& schedule, std::mt19937_64& random) {
    std::vector<int> numbers{1, 2, 3, 4};
    for (Stage& stage : schedule.stages) {
        if (random() % 3 == 0) continue;
        std::shuffle(numbers.begin(), numbers.end(), random);
        stage.owners.assign(numbers.begin(), numbers.begin() + stage.threads);
    }
}

/// Stages, threads, words, owners, rings and ways of waiting, such that sequential tasks have one thread.
inline Schedule random_schedule(const RandomProgram& program, std::mt19937_64& random) {
    Schedule schedule;
    for (std::size_t first = 0; first < program.tasks.size();) {
        Stage& stage = schedule.stages.emplace_back();
        stage.first_task = first;
        stage.task_count = 1 + random() % std::min<std::size_t>(4, program.tasks.size() - first);
        if (program.tasks[first].batch > 1 && random() % 4) {
            stage.task_count = 1;
            if (random() % 4) stage.batch = 1 + static_cast<int>(random() % 8);
        }
        bool replicable = true;
        for (std::size_t i = 0; i < stage.task_count; ++i) {
            replicable &= program.tasks[first + i].replication != Replication::sequential;
        }
        stage.threads = replicable ? 1 + static_cast<int>(random() % 3) : 1;
        if (!stage.batch && stage.threads > 1 && random() % 2) {
            stage.word = random_word(static_cast<std::size_t>(stage.threads), random);
        } else {
            stage.core_kind = "big";
        }
        first += stage.task_count;
        if (first == program.tasks.size()) break;
        stage.sync_buff_size = 1 + static_cast<int>(random() % 3);
        if (random() % 3 > 0) stage.waiting = random() % 2 ? WaitMode::passive : WaitMode::active;
    }
    const bool has_batches =
        std::ranges::any_of(schedule.stages, [](const Stage& stage) { return stage.batch.has_value(); });
    if (!has_batches && random() % 2) share_threads(schedule, random);
    if (random() % 4 == 0) schedule.frames_in_flight = 1 + static_cast<int>(random() % 6);
    return schedule;
}

inline std::string text_of(const Schedule& schedule) {
    std::string text;
    if (schedule.frames_in_flight) text += fmt::format("{} in flight: ", *schedule.frames_in_flight);
    for (const Stage& stage : schedule.stages) {
        text += fmt::format("{}x{}({}) ", stage.task_count, stage.threads, stage.sync_buff_size.value_or(0));
        if (stage.word) text += fmt::format("by {} ", fmt::join(letter_names(*stage.word), " "));
        if (stage.batch) text += fmt::format("in batches of {} ", *stage.batch);
        if (!stage.owners.empty()) text += fmt::format("of {} ", fmt::join(stage.owners, " "));
    }
    return text;
}

/// Runs a program as a graph under the executor that `make` makes of that.
template <class Make>
RandomOutcome run_under(const RandomProgram& program, Make make) {
    RandomOutcome outcome;
    Graph graph;
    const auto modules = build(program, graph, outcome);
    const RunOptions options{
        .frames = program.frames, .statistics = program.frames % 2 == 0, .finish = program.finishes};
    try {
        auto executor = make(graph);
        make_settings(program, modules, executor);
        const RunReport report = executor.run(options);
        outcome.delivered = report.delivered;
        outcome.skipped = report.skipped;
    } catch (const FrameError& error) {
        outcome.error = fmt::format("{} {}", error.task(), error.frame());
    }
    for (const RandomModule* module : modules) outcome.total += module->total;
    return outcome;
}

inline Pipeline pipeline_of(Graph& graph, const Schedule& schedule, std::uint32_t batch = 1) {
    return {graph, schedule, {.waiting = WaitMode::mixed, .frames = batch, .batch_wait_us = 20}};
}

/// A pipeline whose schedule is changed again and again while it runs.
class RescheduledPipeline {
  public:
    RescheduledPipeline(Graph& graph, std::vector<Schedule> schedules, std::uint32_t batch)
        : schedules_(std::move(schedules)), pipeline_(pipeline_of(graph, schedules_.front(), batch)) {}

    template <class... Settings>
    SetAt set(const Settings&... settings) {
        return pipeline_.set(settings...);
    }

    RunReport run(const RunOptions& options) {
        const std::jthread changes([this](const std::stop_token& stop) {
            for (std::size_t i = 1; !stop.stop_requested(); ++i) {
                pipeline_.reschedule(schedules_[i % schedules_.size()]);
                std::this_thread::yield();
            }
        });
        return pipeline_.run(options);
    }

  private:
    std::vector<Schedule> schedules_;
    Pipeline pipeline_;
};

/// Sinks that may have read on where the stream ended early.
enum class Ahead {
    none,
    before_end,  ///< those before the task that ended it
    all,
};

inline void check_same(const RandomOutcome& actual, const RandomOutcome& expected, Ahead allowed) {
    CHECK(actual.error == expected.error);
    for (std::size_t at = 0; at < expected.collected.size(); ++at) {
        CAPTURE(at);
        Words words = actual.collected[at];
        const bool ahead =
            expected.ending && (allowed == Ahead::all ||
                                (allowed == Ahead::before_end && static_cast<int>(at) < *expected.ending));
        if (ahead && words.size() > expected.collected[at].size())
            words.resize(expected.collected[at].size());
        CHECK(words == expected.collected[at]);
    }
    if (expected.error.empty()) {
        CHECK(actual.delivered == expected.delivered);
        CHECK(actual.skipped == expected.skipped);
    }
    if (!expected.ending) CHECK(actual.total == expected.total);
}

/// Whether some of a program's tasks have batches of frames done elsewhere.
enum class Batches { none, some };

inline void check_program(std::uint64_t seed, int schedules, Batches batches = Batches::none) {
    INFO("to repeat: TIDEMILL_RANDOM_SEED=", seed);
    const RandomProgram program = RandomProgramMaker(seed, batches == Batches::some).make();
    const RandomOutcome expected = RandomInterpreter(program).run();
    check_same(run_under(program, [](Graph& graph) { return Sequence(graph); }), expected, Ahead::none);
    std::mt19937_64 random(seed);
    for (int i = 0; i < schedules; ++i) {
        const Schedule schedule = random_schedule(program, random);
        const auto batch = static_cast<std::uint32_t>(random() % 2 ? 1 : 2 + random() % 6);
        INFO("schedule ", text_of(schedule), "batch ", batch);
        const auto make = [&](Graph& graph) { return pipeline_of(graph, schedule, batch); };
        check_same(run_under(program, make), expected, Ahead::before_end);
    }
}

/// The same with schedules that change all the time.
inline void check_rescheduled(std::uint64_t seed, Batches batches = Batches::none) {
    INFO("to repeat: TIDEMILL_RANDOM_SEED=", seed);
    const RandomProgram program = RandomProgramMaker(seed, batches == Batches::some).make();
    std::mt19937_64 random(seed);
    std::vector<Schedule> schedules;
    for (int i = 0; i < 3; ++i) schedules.push_back(random_schedule(program, random));
    const auto batch = static_cast<std::uint32_t>(1 + random() % 7);
    const auto make = [&](Graph& graph) { return RescheduledPipeline(graph, schedules, batch); };
    check_same(run_under(program, make), RandomInterpreter(program).run(), Ahead::before_end);
}

/// How many random programs a test takes: those in TIDEMILL_RANDOM_PROGRAMS, else `usual`.
inline std::uint64_t random_programs(std::uint64_t usual) {
    const char* wanted = std::getenv("TIDEMILL_RANDOM_PROGRAMS");
    return wanted ? std::strtoull(wanted, nullptr, 10) : usual;
}

/// Checks as many programs as given, or the one whose seed stands in TIDEMILL_RANDOM_SEED.
inline void check_random_programs(std::uint64_t first_seed, std::uint64_t programs, int schedules,
                                  Batches batches = Batches::none) {
    if (const char* seed = std::getenv("TIDEMILL_RANDOM_SEED")) {
        return check_program(std::strtoull(seed, nullptr, 10), 10 * schedules, batches);
    }
    fmt::print("random programs with seeds {} to {}, {} schedules each\n", first_seed,
               first_seed + programs - 1, schedules);
    for (std::uint64_t i = 0; i < programs; ++i) check_program(first_seed + i, schedules, batches);
}

}  // namespace tidemill::internal
