#include "tidemill/lab/sim/stream_program.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "tidemill/scheduling/static/schedule_error.hpp"

namespace tidemill {

double StreamGraph::work_us() const {
    return std::accumulate(types.begin(), types.end(), 0.0, [](double sum, const StreamTaskType& type) {
        return sum + type.work_us * static_cast<double>(type.firings);
    });
}

std::uint64_t StreamGraph::tasks() const {
    return std::accumulate(types.begin(), types.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const StreamTaskType& type) { return sum + type.firings; });
}

std::uint64_t StreamGraph::bytes() const {
    std::uint64_t items = 0;
    for (const StreamEdge& edge : edges) items += edge.push * types[edge.from].firings;
    return items * item_bytes;
}

namespace {

// Firings of one task type, counted from the program's beginning.
struct Firings {
    std::uint64_t begin;
    std::uint64_t end;
};

class StreamProgram final : public TaskProgram {
  public:
    StreamProgram(StreamGraph graph, std::uint64_t iterations)
        : graph_(std::move(graph)),
          iterations_(iterations),
          tasks_per_iteration_(graph_.tasks()),
          edges_to_(graph_.types.size()),
          edges_from_(graph_.types.size()) {
        std::uint64_t first = 0;
        for (const StreamTaskType& type : graph_.types) {
            names_.push_back(type.name);
            first_task_.push_back(first);
            first += type.firings;
        }
        for (const StreamEdge& edge : graph_.edges) {
            check(edge);
            edges_to_[edge.to].push_back(&edge);
            edges_from_[edge.from].push_back(&edge);
        }
        longest_distance_ = check_order();
    }

    const std::string& name() const override { return graph_.name; }
    const std::vector<std::string>& types() const override { return names_; }
    std::uint64_t tasks() const override { return iterations_ * tasks_per_iteration_; }
    std::uint64_t iterations() const override { return iterations_; }

    std::uint64_t reach(std::uint64_t iterations_in_flight) const override {
        if (iterations_in_flight >= iterations_) return tasks();
        return (iterations_in_flight + 1) * tasks_per_iteration_ + longest_distance_;
    }

    void restart() override { iteration_ = type_ = firing_ = 0; }

    void next(ProgramTask& task) override {
        make(task);
        if (++firing_ < graph_.types[type_].firings) return;
        firing_ = 0;
        if (++type_ < graph_.types.size()) return;
        type_ = 0;
        ++iteration_;
    }

  private:
    void check(const StreamEdge& edge) const {
        const StreamTaskType& from = graph_.types.at(edge.from);
        const StreamTaskType& to = graph_.types.at(edge.to);
        if (edge.pop == 0 || from.firings * edge.push != to.firings * edge.pop) {
            throw ScheduleError(fmt::format(
                "{}: {} makes {} items an iteration and {} takes {}; they must agree", graph_.name, from.name,
                from.firings * edge.push, to.name, to.firings * edge.pop));
        }
    }

    // Far from the beginning, one iteration shows all distances there are.
    std::uint64_t check_order() {
        std::uint64_t longest = 0;
        iteration_ = 1;
        for (const StreamEdge& edge : graph_.edges) iteration_ += 1 + (edge.initial + edge.peek) / edge.pop;
        ProgramTask task;
        std::uint64_t number = iteration_ * tasks_per_iteration_;
        for (const std::uint64_t end = iteration_ + 1; iteration_ < end; ++number) {
            next(task);
            for (const Predecessor& before : task.predecessors) {
                if (before.number >= number) {
                    throw ScheduleError(
                        fmt::format("{}: {} needs items that are made after it is created; order "
                                    "the task types along their edges, or give an edge initial items",
                                    graph_.name, names_[task.type]));
                }
                longest = std::max(longest, number - before.number);
            }
        }
        restart();
        return longest;
    }

    std::uint64_t number_of(std::size_t type, std::uint64_t firing) const {
        const std::uint64_t firings = graph_.types[type].firings;
        return firing / firings * tasks_per_iteration_ + first_task_[type] + firing % firings;
    }

    // Those that make what the firing of edge.to looks at.
    static Firings makers(const StreamEdge& edge, std::uint64_t firing) {
        const std::uint64_t first = firing * edge.pop;
        const std::uint64_t end = first + std::max(edge.peek, edge.pop);
        if (end <= edge.initial) return {0, 0};
        return {(std::max(first, edge.initial) - edge.initial) / edge.push,
                (end - edge.initial + edge.push - 1) / edge.push};
    }

    // Those that look at what the firing of edge.from makes.
    static Firings readers(const StreamEdge& edge, std::uint64_t firing) {
        const std::uint64_t first = firing * edge.push + edge.initial;
        const std::uint64_t seen = std::max(edge.peek, edge.pop);
        const std::uint64_t begin = first < seen ? 0 : (first - seen) / edge.pop + 1;
        return {begin, (first + edge.push - 1) / edge.pop + 1};
    }

    void make(ProgramTask& task) const {
        const StreamTaskType& type = graph_.types[type_];
        const std::uint64_t firing = iteration_ * type.firings + firing_;
        task.type = static_cast<policy::TaskTypeId>(type_);
        task.iteration = iteration_;
        task.work_us = type.work_us;
        task.reserved_bytes = type_ == 0 && firing_ == 0 ? graph_.bytes() : 0;
        task.predecessors.clear();
        if (type.stateful && firing > 0) task.predecessors.push_back({number_of(type_, firing - 1), false});
        for (const StreamEdge* edge : edges_to_[type_]) {
            const Firings before = makers(*edge, firing);
            for (std::uint64_t each = before.begin; each < before.end; ++each) {
                task.predecessors.push_back({number_of(edge->from, each)});
            }
        }
        task.output_bytes = 0;
        task.readers = 0;
        for (const StreamEdge* edge : edges_from_[type_]) {
            const Firings after = readers(*edge, firing);
            task.output_bytes += edge->push * graph_.item_bytes;
            task.readers += static_cast<std::uint32_t>(after.end - after.begin);
        }
    }

    StreamGraph graph_;
    std::uint64_t iterations_;
    std::uint64_t tasks_per_iteration_;
    std::uint64_t longest_distance_ = 0;
    std::vector<std::string> names_;
    std::vector<std::uint64_t> first_task_;  // of each task type, in an iteration
    std::vector<std::vector<const StreamEdge*>> edges_to_;
    std::vector<std::vector<const StreamEdge*>> edges_from_;
    std::uint64_t iteration_ = 0;
    std::size_t type_ = 0;
    std::uint64_t firing_ = 0;
};

}  // namespace

std::unique_ptr<TaskProgram> stream_program(StreamGraph graph, std::uint64_t iterations) {
    return std::make_unique<StreamProgram>(std::move(graph), iterations);
}

}  // namespace tidemill
