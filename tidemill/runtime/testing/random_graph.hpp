#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "tidemill/runtime/graph/graph.hpp"
#include "tidemill/runtime/testing/elsewhere.hpp"
#include "tidemill/runtime/testing/random_program.hpp"

/// Random stream programs by definition, and the same as graphs.
namespace tidemill::internal {

/// Meaning of a program, by definition: frame after frame, task after task.
class RandomInterpreter {
  public:
    explicit RandomInterpreter(const RandomProgram& program) : program_(program) {
        for (const RandomTask& task : program.tasks) behaviours_.push_back({task});
        outcome_.collected.resize(program.tasks.size());
        numbers_.resize(program.tasks.size());
    }

    RandomOutcome run() {
        while (numbers_[0] < program_.frames && !over_) {
            run_from(0, 0, Values(program_.tasks.size()));
            if (!over_) ++numbers_[0];
        }
        if (outcome_.error.empty() && (over_ || program_.finishes)) end_stream();
        return std::move(outcome_);
    }

  private:
    using Values = std::vector<std::optional<std::uint64_t>>;  // none: a hole

    // Value for all that comes of the source frame in hand; of settings on one frame, the last.
    std::uint32_t knob_of(std::size_t task) const {
        std::uint32_t value = 0;
        std::uint64_t since = 0;
        for (const RandomSetting& each : program_.settings) {
            if (each.task != task || each.frame > end_frame_.value_or(numbers_[0]) || each.frame < since)
                continue;
            value = each.value;
            since = each.frame;
        }
        return value;
    }

    void end_stream() {
        end_frame_ = numbers_[0];
        for (std::size_t at = 0; at < behaviours_.size() && outcome_.error.empty(); ++at) {
            const bool hears = !stopped_by_ || *stopped_by_ == at || program_.behind(*stopped_by_)[at];
            if (program_.tasks[at].told && hears) end_from(at);
        }
    }

    // Each frame of a task's end has a number of its own.
    void end_from(std::size_t at) {
        over_ = false;
        runs_ = program_.behind(at);
        const std::size_t branch = program_.branch_of(at);
        const bool emits = program_.tasks[at].ends_segment;
        const auto others = std::count(runs_->begin(), runs_->end(), true);
        Flow flow = Flow::again;
        while (flow == Flow::again && !over_) {
            Values values(program_.tasks.size());
            const auto stopped_before = stopped_by_;
            flow = call(at, *input_of(at, values, true), values[at], true);
            if (over_) stopped_by_ = stopped_before;
            if (over_ || flow == Flow::skip) return;
            if (others > 0) run_from(at + 1, emits ? at : branch, values);
            if (over_) return;
            ++numbers_[branch];
            if (emits) ++numbers_[at];
        }
    }

    void run_from(std::size_t at, std::size_t branch, Values values) {
        for (; at < behaviours_.size() && !over_; ++at) {
            if (program_.branch_of(at) != branch || (runs_ && !(*runs_)[at])) continue;
            const auto input = input_of(at, values);
            if (!input) continue;
            behaviours_[at].task.ends_segment ? emit(at, *input, values) : void(call(at, *input, values[at]));
        }
        if (!over_ && is_last(branch)) ++(is_whole(branch, values) ? outcome_.delivered : outcome_.skipped);
    }

    // No other branch comes of it.
    bool is_last(std::size_t branch) const {
        for (std::size_t at = 0; at < behaviours_.size(); ++at)
            if (program_.tasks[at].ends_segment && program_.branch_of(at) == branch) return false;
        return true;
    }

    bool is_whole(std::size_t branch, const Values& values) const {
        for (std::size_t at = 0; at < values.size(); ++at) {
            const bool concerns = !program_.tasks[at].ends_segment && (!runs_ || (*runs_)[at]) &&
                                  program_.comes_of(branch, program_.branch_of(at));
            if (concerns && !values[at]) return false;
        }
        return true;
    }

    void emit(std::size_t at, std::uint64_t input, Values values) {
        Flow flow = Flow::again;
        while (flow == Flow::again && !over_) {
            flow = call(at, input, values[at]);
            if (over_ || flow == Flow::skip) return;
            run_from(at + 1, at, values);
            if (!over_) ++numbers_[at];
        }
    }

    std::optional<std::uint64_t> input_of(std::size_t at, const Values& values, bool ends = false) const {
        std::uint64_t hash = 0;
        for (const int from : program_.tasks[at].inputs) {
            const auto source = static_cast<std::size_t>(from);
            if (ends && from >= 0) continue;
            if (from >= 0 && !values[source]) return {};
            hash = from < 0
                       ? hash_of(hash, kConstant, kConstantWords)
                       : hash_of(hash, *values[source], program_.tasks[source].words_for(*values[source]));
        }
        if (program_.tasks[at].reads_label)
            hash = mixed(hash, ends ? 0 : label_of(*values[*program_.label_owner(at)]));
        return hash;
    }

    Flow call(std::size_t at, std::uint64_t input, std::optional<std::uint64_t>& value, bool ends = false) {
        Flow flow = Flow::stop;
        std::uint64_t output = 0;
        try {
            flow = behaviours_[at](mixed(input, knob_of(at)), numbers_[program_.branch_of(at)], ends, output);
        } catch (const std::runtime_error&) {
            outcome_.error = fmt::format("task{}.run {}", at, numbers_[program_.branch_of(at)]);
        }
        if (flow == Flow::stop) {
            over_ = true;
            stopped_by_ = at;
            outcome_.ending = std::max(outcome_.ending.value_or(0), static_cast<int>(at));
            return flow;
        }
        value = flow == Flow::skip ? std::nullopt : std::optional(output);
        if (flow == Flow::skip) return flow;
        if (program_.tasks[at].replication == Replication::cloned) outcome_.total += output;
        if (program_.tasks[at].collects) outcome_.collected[at].push_back(output);
        return flow;
    }

    const RandomProgram& program_;
    std::vector<RandomBehaviour> behaviours_;
    std::vector<std::uint64_t> numbers_;  // of the next frame, per branch
    RandomOutcome outcome_;
    bool over_ = false;
    std::optional<std::size_t> stopped_by_;
    std::optional<std::uint64_t> end_frame_;  // of the source
    std::optional<std::vector<bool>>
        runs_;  // at the stream's end: tasks that take part besides those that see it
};

/// A task of a random program as a module.
class RandomModule : public Module {
  public:
    RandomModule(const RandomProgram& program, std::size_t index, RandomOutcome& outcome)
        : Module(fmt::format("task{}", index)), index_(index), outcome_(&outcome) {
        behaviour_.task = program.tasks[index];
        const RandomTask& mine = behaviour_.task;
        if (mine.has_knob) knobs.push_back(knob("knob", std::uint32_t{0}));
        if (mine.reads_label) read.push_back(label<const std::uint64_t>("mark", "mark_read"));
        if (mine.gives_label) given.push_back(label<std::uint64_t>("mark"));
        for (std::size_t i = mine.forwards ? 1 : 0; i < mine.inputs.size(); ++i) {
            const int from = mine.inputs[i];
            if (from < 0) {
                add_input(i, kConstantWords);
            } else {
                const RandomTask& source = program.tasks[static_cast<std::size_t>(from)];
                source.varies ? add_input(i, upto(source.words))
                : is_open(i)  ? add_input(i, any)
                              : add_input(i, source.words);
            }
        }
        mine.varies ? add_output(upto(mine.words)) : add_output(mine.words);
        mine.batch > 1 ? add_batched() : add_plain();
    }

    void reset_counters() override { total = 0; }
    void merge(Module& clone) override { total += static_cast<RandomModule&>(clone).total; }
    void keep(Archive& archive) override {
        archive("state", behaviour_.state)("left", behaviour_.left)("left_at_end", behaviour_.left_at_end);
        archive("total", total)("collected", outcome_->collected[index_]);
    }

    using Input = std::variant<In<std::uint64_t>, InUpTo<std::uint64_t>, InAny<std::uint64_t>>;
    using Output = std::variant<Out<std::uint64_t>, OutUpTo<std::uint64_t>, Forward<std::uint64_t>,
                                ForwardUpTo<std::uint64_t>>;
    std::vector<Input> inputs{};  // without the one that is changed in place
    Output output{};
    std::vector<Knob<std::uint32_t>> knobs{};
    std::vector<Label<const std::uint64_t>> read{};
    std::vector<Label<std::uint64_t>> given{};
    std::uint64_t total = 0;

  private:
    // Some inputs leave it to their bindings how many words they have.
    bool is_open(std::size_t index) const { return mixed(behaviour_.task.seed, index) % 3 == 0; }

    template <class Count>
    void add_input(std::size_t index, Count words) {
        inputs.push_back(in<std::uint64_t>(fmt::format("x{}", index), words));
    }
    template <class Count>
    void add_output(Count words) {
        if (behaviour_.task.forwards)
            output = forward<std::uint64_t>("y", words);
        else
            output = out<std::uint64_t>("y", words);
    }

    void add_plain() {
        const RandomTask& mine = behaviour_.task;
        task("run", &RandomModule::run,
             {.replication = mine.replication,
              .may_skip = mine.leaves_holes || mine.ends_segment,
              .may_repeat = mine.ends_segment,
              .at_end = mine.told});
    }
    void add_batched() {
        places_.resize(behaviour_.task.in_flight);
        elsewhere_ = std::make_shared<Elsewhere>(static_cast<unsigned>(behaviour_.task.seed),
                                                 [](std::uint64_t value) { return ~value; });
        task_in_flight<&RandomModule::send, &RandomModule::is_back, &RandomModule::take>(
            "run", {.replication = behaviour_.task.replication,
                    .batch = behaviour_.task.batch,
                    .in_flight = behaviour_.task.in_flight});
    }

    // Tasks done elsewhere, in any order, do not depend on the order.
    void send(Batch batch, std::size_t place) {
        std::vector<std::uint64_t>& values = places_[place].numbers;
        values.clear();
        for (std::size_t i = 0; i < batch.size(); ++i) {
            std::uint64_t& value = values.emplace_back();
            behaviour_(input_of(batch[i]), batch[i].number(), false, value);
            value = ~value;
        }
        elsewhere_->send(places_[place]);
    }
    bool is_back(std::size_t place) { return elsewhere_->is_done(places_[place]); }
    void take(Batch batch, std::size_t place) {
        elsewhere_->wait(places_[place]);
        for (std::size_t i = 0; i < batch.size(); ++i) put(batch[i], places_[place].numbers[i]);
    }

    Flow run(Frame f) {
        std::uint64_t value = 0;
        const Flow flow = behaviour_(input_of(f), f.number(), f.at_end(), value);
        if (flow != Flow::stop && flow != Flow::skip) put(f, value);
        return flow;
    }

    std::uint64_t input_of(Frame f) const {
        std::uint64_t hash = 0;
        const auto add = [&](const auto& socket) {
            for (const std::uint64_t word : f[socket]) hash = mixed(hash, word);
        };
        if (behaviour_.task.forwards) std::visit(add, output);
        for (const Input& input : inputs) std::visit(add, input);
        if (!read.empty()) hash = mixed(hash, f[read[0]]);
        return mixed(hash, knobs.empty() ? 0 : f[knobs[0]]);
    }

    void put(Frame f, std::uint64_t value) {
        std::visit([&](const auto& socket) { give(f[socket], value); }, output);
        if (!given.empty()) f[given[0]] = label_of(value);
        if (behaviour_.task.replication == Replication::cloned) total += value;
        if (behaviour_.task.collects) outcome_->collected[index_].push_back(value);
    }

    static void give(std::span<std::uint64_t> words, std::uint64_t value) {
        for (std::size_t i = 0; i < words.size(); ++i) words[i] = word_of(value, i);
    }
    // A frame that is given none is left as it begins.
    void give(Elements<std::uint64_t> words, std::uint64_t value) const {
        const std::size_t count = behaviour_.task.words_for(value);
        if (count > 0 || behaviour_.task.forwards) words.resize(count);
        give(std::span<std::uint64_t>(words), value);
    }

    RandomBehaviour behaviour_;
    std::size_t index_;
    RandomOutcome* outcome_;
    std::shared_ptr<Elsewhere> elsewhere_{};  // of all clones
    std::vector<Elsewhere::Sent> places_{};
};

/// Adds a program's tasks to a graph; sinks collect into `outcome`.
inline std::vector<RandomModule*> build(const RandomProgram& program, Graph& graph, RandomOutcome& outcome) {
    outcome.collected.resize(program.tasks.size());
    std::vector<RandomModule*> modules;
    for (std::size_t at = 0; at < program.tasks.size(); ++at) {
        RandomModule& module = graph.add<RandomModule>(program, at, outcome);
        const RandomTask& task = program.tasks[at];
        for (std::size_t i = 0; i < task.inputs.size(); ++i) {
            if (task.inputs[i] < 0) {
                Words words;
                for (std::size_t w = 0; w < kConstantWords; ++w) words.push_back(word_of(kConstant, w));
                graph.bind(words, std::get<In<std::uint64_t>>(module.inputs[i - (task.forwards ? 1 : 0)]));
                continue;
            }
            const SocketRef from = (*modules[static_cast<std::size_t>(task.inputs[i])])["y"];
            graph.bind(from, task.forwards && i == 0 ? module["y"] : module[fmt::format("x{}", i)]);
        }
        modules.push_back(&module);
    }
    return modules;
}

/// Makes a program's settings with an executor that has not begun.
template <class Executor>
void make_settings(const RandomProgram& program, const std::vector<RandomModule*>& modules,
                   Executor& executor) {
    for (const RandomSetting& each : program.settings)
        executor.set(modules[each.task]->knobs[0], each.value, From{each.frame});
}

}  // namespace tidemill::internal
