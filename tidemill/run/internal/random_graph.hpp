#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "tidemill/graph/graph.hpp"
#include "tidemill/run/internal/elsewhere.hpp"

/// Random stream programs as plain data, what they mean by definition, and the same as graphs.
namespace tidemill::internal {

using Words = std::vector<std::uint64_t>;

inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    std::uint64_t x = a * 0x9e3779b97f4a7c15ull + b + 0x632be59bd9b4e019ull;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9ull;
    return x ^ x >> 32;
}

/// A task of a random program.
struct RandomTask {
    Replication replication = Replication::sequential;
    std::vector<int> inputs{};  // tasks; -1: constant data
    bool forwards = false;      // its first input is changed in place
    bool ends_segment = false;  // skips and repeats
    bool leaves_holes = false;
    bool collects = false;  // a sink
    bool has_knob = false;  // whose value goes into what it makes
    bool told = false;      // of the stream's end
    bool gives_label = false;
    bool reads_label = false;  // of the nearest that gives it
    std::optional<std::uint64_t> stops_at{};
    std::optional<std::uint64_t> throws_at{};
    std::size_t words = 1;        // of its output
    bool varies = false;          // in their number, up to that
    std::uint32_t batch = 1;      // frames that it takes at once, and has done elsewhere
    std::uint32_t in_flight = 1;  // of such batches
    std::uint64_t seed = 0;

    /// How many words stand for a value that it gives.
    std::size_t words_for(std::uint64_t value) const {
        return varies ? static_cast<std::size_t>(mixed(value, 2000) % (words + 1)) : words;
    }
};

/// A knob of a task is set from a source frame on.
struct RandomSetting {
    std::uint64_t frame = 0;
    std::size_t task = 0;
    std::uint32_t value = 0;
};

/// Tasks in an order in which they may run; all behind a segment's end depend on it.
struct RandomProgram {
    std::vector<RandomTask> tasks;
    std::uint64_t frames = 0;
    std::vector<RandomSetting> settings{};  // in the order in which they are made, not by frame
    bool finishes = false;                  // the stream ends when these are over

    /// Whose frames a task gives, by the task that emits them; 0: the source's. Of what it reads, the last.
    std::size_t branch_behind(std::size_t task) const {
        return tasks[task].ends_segment ? task : branch_of(task);
    }
    /// The same for the frames that a task runs on.
    std::size_t branch_of(std::size_t task) const {
        std::size_t branch = 0;
        for (const int from : tasks[task].inputs)
            if (from >= 0) branch = std::max(branch, branch_behind(static_cast<std::size_t>(from)));
        return branch;
    }
    /// Whether frames of a branch come of those of another, or are these.
    bool comes_of(std::size_t branch, std::size_t other) const {
        while (branch > other) branch = branch_of(branch);
        return branch == other;
    }

    /// Per task, whether this one follows from it.
    std::vector<bool> before(std::size_t task) const {
        std::vector<bool> found(tasks.size(), false);
        for (std::size_t at = task + 1; at-- > 0;) {
            if (at != task && !found[at]) continue;
            for (const int from : tasks[at].inputs)
                if (from >= 0) found[static_cast<std::size_t>(from)] = true;
        }
        return found;
    }

    /// Whose label a task gets: of those before it, the only one that is before no other.
    std::optional<std::size_t> label_owner(std::size_t task) const {
        const std::vector<bool> earlier = before(task);
        std::vector<std::size_t> nearest;
        for (std::size_t at = task; at-- > 0;) {
            const bool farther =
                std::ranges::any_of(nearest, [&](auto other) -> bool { return before(other)[at]; });
            if (earlier[at] && tasks[at].gives_label && !farther) nearest.push_back(at);
        }
        return nearest.size() == 1 ? std::optional(nearest.front()) : std::nullopt;
    }

    /// Per task, whether it follows from this one.
    std::vector<bool> behind(std::size_t task) const {
        std::vector<bool> found(tasks.size(), false);
        for (std::size_t at = task + 1; at < tasks.size(); ++at) {
            for (const int from : tasks[at].inputs) {
                const auto source = static_cast<std::size_t>(from);
                if (from >= 0 && (source == task || found[source])) found[at] = true;
            }
        }
        return found;
    }
};

/// What a program comes to: what each sink collected, totals of clones, and how the run ended.
struct RandomOutcome {
    std::vector<Words> collected;  // per task; empty but for sinks
    std::uint64_t total = 0;       // of all cloned tasks
    std::uint64_t delivered = 0;
    std::uint64_t skipped = 0;
    std::string error{};          // "task.run frame", or empty
    std::optional<int> ending{};  // the task that stopped or threw
};

inline constexpr std::uint64_t kConstant = 77;
inline constexpr std::size_t kConstantWords = 3;

// The words of a socket follow from one; so a misplaced byte anywhere is seen.
inline std::uint64_t word_of(std::uint64_t value, std::size_t index) {
    return mixed(value, index);
}

/// What a task that gives a value has on its label.
inline std::uint64_t label_of(std::uint64_t value) {
    return word_of(value, 1000);
}

inline std::uint64_t hash_of(std::uint64_t hash, std::uint64_t value, std::size_t words) {
    for (std::size_t i = 0; i < words; ++i) hash = mixed(hash, word_of(value, i));
    return hash;
}

/// What a task makes of a frame; the same code under every executor, called with its own state.
struct RandomBehaviour {
    RandomTask task;
    std::uint64_t state = 0;  // of sequential tasks
    int left = 0;             // repeats still to come
    std::optional<int> left_at_end{};

    // Tells 0 to 2 frames more.
    Flow end(std::uint64_t input, std::uint64_t frame, std::uint64_t& output) {
        if (!left_at_end) left_at_end = static_cast<int>(mixed(task.seed, frame) % 3);
        if (*left_at_end == 0) return Flow::skip;
        output = state = mixed(mixed(state, frame), mixed(task.seed, input));
        return --*left_at_end > 0 ? Flow::again : Flow::ok;
    }

    Flow operator()(std::uint64_t input, std::uint64_t frame, bool ends, std::uint64_t& output) {
        if (task.stops_at == frame && left == 0) return Flow::stop;
        if (task.throws_at == frame && left == 0) throw std::runtime_error("as told");
        if (ends) return end(input, frame, output);
        output = mixed(mixed(input, frame), task.seed);
        if (task.leaves_holes && output % 5 == 0) return Flow::skip;
        if (task.replication != Replication::sequential) return Flow::ok;
        state = mixed(state, output);
        output = mixed(output, state);
        if (!task.ends_segment) return Flow::ok;
        if (left == 0) left = static_cast<int>(mixed(input, task.seed) % 4);  // 0 to 3 for each frame
        if (left == 0) return Flow::skip;
        return --left > 0 ? Flow::again : Flow::ok;
    }
};

class RandomProgramMaker {
  public:
    /// With `batches` some tasks take several frames at once, and have them done elsewhere.
    explicit RandomProgramMaker(std::uint64_t seed, bool batches = false)
        : random_(seed), batches_(batches) {}

    RandomProgram make() {
        program_.frames = below(60);
        branches_ = one_in(2);
        const int count = 3 + static_cast<int>(below(10));
        for (int at = 0; at < count; ++at) add_task(at, count);
        for (std::size_t at = 0; at < program_.tasks.size(); ++at)
            program_.tasks[at].reads_label = one_in(2) && program_.label_owner(at);
        for (auto left = below(12); left > 0; --left) add_setting();
        for (int ends = static_cast<int>(below(3)); ends > 0; --ends) add_ending(count);
        if (one_in(2)) tell_of_end();
        program_.finishes = one_in(2);
        return std::move(program_);
    }

  private:
    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }
    const RandomTask& of(int task) const { return program_.tasks[static_cast<std::size_t>(task)]; }

    void add_task(int at, int count) {
        RandomTask task{.seed = random_()};
        const bool source = at == 0 || (segment_start_ == 0 && one_in(6));
        const bool last = at + 1 == count;
        task.ends_segment = !source && !last && one_in(branches_ ? 3 : 12);
        task.replication = at == 0 || last || task.ends_segment || one_in(4) ? Replication::sequential
                           : one_in(3)                                       ? Replication::cloned
                                                                             : Replication::pure;
        const bool in_order = task.replication == Replication::sequential;
        task.collects = !source && in_order && !task.ends_segment && (last || one_in(2));
        if (!source) choose_inputs(task, at);
        task.leaves_holes = !in_order && !source && one_in(4);
        task.forwards = !source && !task.collects && task.inputs.front() >= 0 && one_in(3);
        if (task.ends_segment) segment_start_ = at;
        if (batches_ && !source && !task.ends_segment && !task.leaves_holes && !one_in(3)) {
            task.batch = 1 + static_cast<std::uint32_t>(below(6));
            task.in_flight = 1 + static_cast<std::uint32_t>(below(3));
            if (task.batch > 1 && task.replication == Replication::pure)
                task.replication = Replication::cloned;  // the batches' places are the object's
        }
        task.has_knob = one_in(3);
        task.gives_label = one_in(3);
        task.words = task.forwards ? of(task.inputs.front()).words : 1 + below(40);
        task.varies = task.forwards ? of(task.inputs.front()).varies : one_in(3);
        program_.tasks.push_back(std::move(task));
    }

    // Behind a segment's end, some input comes from that task or what depends on it; a task that ends a
    // segment itself may go back, and begin another branch.
    void choose_inputs(RandomTask& task, int at) {
        auto branch = static_cast<std::size_t>(segment_start_);
        if (branches_ && task.ends_segment)
            branch = program_.branch_behind(static_cast<std::size_t>(earlier(0, at)));
        const auto count = 1 + below(3);
        for (std::uint64_t i = 0; i < count; ++i) {
            task.inputs.push_back(one_in(8) && i > 0 ? -1 : earlier_in(at, branch, false));
        }
        task.inputs.back() = earlier_in(at, branch, true);
    }
    // A task that gives frames of a branch, or, unless it must be that, of those that this comes of.
    int earlier_in(int at, std::size_t branch, bool exactly) {
        while (true) {
            const int found = earlier(0, at);
            const std::size_t given = program_.branch_behind(static_cast<std::size_t>(found));
            if (given == branch || (!exactly && program_.comes_of(branch, given))) return found;
        }
    }
    int earlier(int from, int to) {
        return from + static_cast<int>(below(static_cast<std::uint64_t>(to - from)));
    }

    void add_setting() {
        const auto task = static_cast<std::size_t>(below(program_.tasks.size()));
        if (!program_.tasks[task].has_knob) return;
        program_.settings.push_back({below(60), task, static_cast<std::uint32_t>(below(1000))});
    }

    void add_ending(int count) {
        RandomTask& task = program_.tasks[below(static_cast<std::uint64_t>(count))];
        if (task.batch > 1) return;  // its frames end together, wherever its batches do
        const bool in_order = task.replication == Replication::sequential;
        (in_order && one_in(2) ? task.stops_at : task.throws_at) = below(40);
    }

    // Some of those that can be told: what follows from them follows from nothing else.
    void tell_of_end() {
        for (std::size_t at = 0; at < program_.tasks.size(); ++at) {
            RandomTask& task = program_.tasks[at];
            const std::vector<bool> behind = program_.behind(at);
            bool can = task.replication == Replication::sequential && !task.forwards && task.batch == 1;
            for (std::size_t other = 0; other < program_.tasks.size(); ++other) {
                for (const int from : program_.tasks[other].inputs) {
                    const auto source = static_cast<std::size_t>(from);
                    can &= !behind[other] || from < 0 || source == at || behind[source];
                }
                if (!program_.tasks[other].reads_label || !behind[other]) continue;
                const std::size_t owner = *program_.label_owner(other);
                can &= owner == at || behind[owner];
            }
            task.told = can && !one_in(3);
        }
    }

    std::mt19937_64 random_;
    RandomProgram program_;
    bool batches_;
    int segment_start_ = 0;
    bool branches_ = false;
};

/// What a program means, by definition: frame after frame, task after task.
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

    // What holds for all that comes of the source frame in hand; of settings on one frame, the last.
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
    std::optional<std::vector<bool>> runs_;   // at the stream's end: who takes part besides who is told
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

    void forget_totals() override { total = 0; }
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

    // What is done elsewhere, in any order, is not what depends on the order.
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
