#include "tidemill/sim/stream_program.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "tidemill/schedule/schedule_error.hpp"

namespace tidemill {

double StreamGraph::work_us() const {
    return std::accumulate(kernels.begin(), kernels.end(), 0.0, [](double sum, const StreamKernel& kernel) {
        return sum + kernel.work_us * static_cast<double>(kernel.firings);
    });
}

std::uint64_t StreamGraph::tasks() const {
    return std::accumulate(
        kernels.begin(), kernels.end(), std::uint64_t{0},
        [](std::uint64_t sum, const StreamKernel& kernel) { return sum + kernel.firings; });
}

std::uint64_t StreamGraph::bytes() const {
    std::uint64_t items = 0;
    for (const StreamEdge& edge : edges) items += edge.push * kernels[edge.from].firings;
    return items * item_bytes;
}

namespace {

// Firings of one kernel, counted from the program's beginning.
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
          edges_to_(graph_.kernels.size()),
          edges_from_(graph_.kernels.size()) {
        std::uint64_t first = 0;
        for (const StreamKernel& kernel : graph_.kernels) {
            names_.push_back(kernel.name);
            first_task_.push_back(first);
            first += kernel.firings;
        }
        for (const StreamEdge& edge : graph_.edges) {
            check(edge);
            edges_to_[edge.to].push_back(&edge);
            edges_from_[edge.from].push_back(&edge);
        }
        longest_distance_ = check_order();
    }

    const std::string& name() const override { return graph_.name; }
    const std::vector<std::string>& kernels() const override { return names_; }
    std::uint64_t tasks() const override { return iterations_ * tasks_per_iteration_; }
    std::uint64_t iterations() const override { return iterations_; }

    std::uint64_t reach(std::uint64_t iterations_in_flight) const override {
        if (iterations_in_flight >= iterations_) return tasks();
        return (iterations_in_flight + 1) * tasks_per_iteration_ + longest_distance_;
    }

    void restart() override { iteration_ = kernel_ = firing_ = 0; }

    void next(ProgramTask& task) override {
        make(task);
        if (++firing_ < graph_.kernels[kernel_].firings) return;
        firing_ = 0;
        if (++kernel_ < graph_.kernels.size()) return;
        kernel_ = 0;
        ++iteration_;
    }

  private:
    void check(const StreamEdge& edge) const {
        const StreamKernel& from = graph_.kernels.at(edge.from);
        const StreamKernel& to = graph_.kernels.at(edge.to);
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
                                    "the kernels along their edges, or give an edge initial items",
                                    graph_.name, names_[task.kernel]));
                }
                longest = std::max(longest, number - before.number);
            }
        }
        restart();
        return longest;
    }

    std::uint64_t number_of(std::size_t kernel, std::uint64_t firing) const {
        const std::uint64_t firings = graph_.kernels[kernel].firings;
        return firing / firings * tasks_per_iteration_ + first_task_[kernel] + firing % firings;
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
        const StreamKernel& kernel = graph_.kernels[kernel_];
        const std::uint64_t firing = iteration_ * kernel.firings + firing_;
        task.kernel = static_cast<policy::KernelId>(kernel_);
        task.iteration = iteration_;
        task.work_us = kernel.work_us;
        task.reserved_bytes = kernel_ == 0 && firing_ == 0 ? graph_.bytes() : 0;
        task.predecessors.clear();
        if (kernel.stateful && firing > 0)
            task.predecessors.push_back({number_of(kernel_, firing - 1), false});
        for (const StreamEdge* edge : edges_to_[kernel_]) {
            const Firings before = makers(*edge, firing);
            for (std::uint64_t each = before.begin; each < before.end; ++each) {
                task.predecessors.push_back({number_of(edge->from, each)});
            }
        }
        task.output_bytes = 0;
        task.readers = 0;
        for (const StreamEdge* edge : edges_from_[kernel_]) {
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
    std::vector<std::uint64_t> first_task_;  // of each kernel, in an iteration
    std::vector<std::vector<const StreamEdge*>> edges_to_;
    std::vector<std::vector<const StreamEdge*>> edges_from_;
    std::uint64_t iteration_ = 0;
    std::size_t kernel_ = 0;
    std::uint64_t firing_ = 0;
};

}  // namespace

std::unique_ptr<TaskProgram> stream_program(StreamGraph graph, std::uint64_t iterations) {
    return std::make_unique<StreamProgram>(std::move(graph), iterations);
}

}  // namespace tidemill
