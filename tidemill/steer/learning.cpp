#include "tidemill/steer/learning.hpp"

#include <utility>

#include "tidemill/machine/platform_error.hpp"

namespace tidemill::steer {

namespace {

constexpr bridge::TaskId kMostThreads = 4096;

// One look of some threads says little: less than this is added to the next.
constexpr double kLeastNs = 5e6;

bridge::Sample sample_of(const ThreadWork& work) {
    double ran_ns = 0;
    double instructions = 0;
    for (const CoreTypeCounts& counts : work.on) {
        if (!counts.instructions) continue;
        ran_ns += counts.ran_ns;
        instructions += *counts.instructions;
    }
    return {.time_ns = static_cast<std::uint64_t>(ran_ns),
            .instructions = static_cast<std::uint64_t>(instructions)};
}

}  // namespace

/// A thread with counters of its own and a place in the layer.
struct CountedThread {
    CountedThread(Learning& learning_of_it, const RosterThread& thread)
        : learning(learning_of_it), program(thread.program) {}
    CountedThread(const CountedThread&) = delete;
    CountedThread& operator=(const CountedThread&) = delete;
    ~CountedThread() {
        if (!counters) return;
        learning.layer_.exit(slot);
        learning.free_slots_.push_back(slot);
    }

    Learning& learning;
    std::string program;
    std::unique_ptr<ThreadCounters> counters{};  // none: it cannot be counted
    bridge::TaskId slot = 0;
    CounterReading last{};
    double since_s = 0;  // RosterThread::moved_s at the last look
    bool was_confined = false;
};

Learning::Learning(Counters& counters, std::size_t kinds) : counters_(counters), layer_(kMostThreads, kinds) {
    for (bridge::TaskId slot = kMostThreads; slot > 0; --slot) free_slots_.push_back(slot - 1);
}

void Learning::begin(RosterThread& thread) {
    auto counted = std::make_shared<CountedThread>(*this, thread);
    thread.counted = counted;
    if (free_slots_.empty()) {
        complaint_ =
            "more threads want something than can be learned of at a time; the others have no factors";
        return;
    }
    try {
        counted->counters = counters_.of_thread(thread.number);
    } catch (const PlatformError& error) {
        complaint_ = error.what();
        return;
    }
    // A thread that lives now had its number when the counters were opened.
    if (!thread.held->times()) {
        counted->counters = nullptr;
        return;
    }
    counted->slot = free_slots_.back();
    free_slots_.pop_back();
    layer_.exec(counted->slot, thread.program);
}

void Learning::look(RosterThread& thread) {
    if (thread.counted && thread.counted->program != thread.program) thread.counted.reset();
    if (!thread.counted) begin(thread);
    if (!thread.counted->counters) return;
    try {
        note(thread, thread.counted->counters->read());
    } catch (const PlatformError& error) {
        complaint_ = error.what();
        thread.counted = std::make_shared<CountedThread>(*this, thread);
    }
}

void Learning::note(RosterThread& thread, const CounterReading& now) {
    CountedThread& counted = *thread.counted;
    const bool confined = thread.standing == Standing::confined;
    const bool stayed = confined && counted.was_confined && counted.since_s == thread.moved_s;
    const bridge::Sample done = sample_of(work_between(counted.last, now));
    if (stayed && static_cast<double>(done.time_ns) < kLeastNs) return;
    counted.last = now;
    counted.was_confined = confined;
    counted.since_s = thread.moved_s;
    if (!stayed || done.instructions == 0) return;
    layer_.statistic(counted.slot, static_cast<policy::KindId>(thread.kind), done);
    std::vector<bridge::History>& histories = programs_[thread.program];
    histories.resize(std::max(histories.size(), thread.kind + 1));
    histories[thread.kind].note(done);
}

bridge::Factor Learning::factor(const RosterThread& thread, std::size_t kind) const {
    if (!thread.counted || !thread.counted->counters) return {};
    return layer_.factors().read(thread.counted->slot, static_cast<policy::KindId>(kind));
}

std::vector<bridge::KnownTask> Learning::known(const std::vector<std::string>& kind_names) const {
    std::vector<bridge::KnownTask> tasks;
    for (const auto& [program, histories] : programs_) {
        bridge::KnownTask task{.name = program};
        for (std::size_t kind = 0; kind < histories.size(); ++kind) {
            const bridge::History& history = histories[kind];
            if (history.samples == 0) continue;
            task.kinds[kind_names[kind]] = {.us = 1e3 * history.ns_per_instruction(),
                                            .calls = history.sum.instructions / 1'000'000,
                                            .quality = history.quality()};
        }
        tasks.push_back(std::move(task));
    }
    return tasks;
}

}  // namespace tidemill::steer
