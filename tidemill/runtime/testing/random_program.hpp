#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tidemill/runtime/graph/task.hpp"

/// Random stream programs as plain data.
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

    /// The branch of a task's frames, by the task that emits them; 0: the source's. Of what it reads, the
    /// last.
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

    /// The task whose label a task gets: of those before it, the only one that is before no other.
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

/// Result of a program: what each sink collected, totals of clones, and how the run ended.
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

/// Label of a task that gives a value.
inline std::uint64_t label_of(std::uint64_t value) {
    return word_of(value, 1000);
}

inline std::uint64_t hash_of(std::uint64_t hash, std::uint64_t value, std::size_t words) {
    for (std::size_t i = 0; i < words; ++i) hash = mixed(hash, word_of(value, i));
    return hash;
}

/// Behaviour of a task on a frame; the same code under every executor, called with its own state.
struct RandomBehaviour {
    RandomTask task;
    std::uint64_t state = 0;  // of sequential tasks
    int left = 0;             // repeats still to come
    std::optional<int> left_at_end{};

    // Gives 0 to 2 frames more.
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

    // Some of those that can be set: what follows from them follows from nothing else.
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

}  // namespace tidemill::internal
