#include "tidemill/runtime/execute/duplicates.hpp"

#include <exception>
#include <utility>

#include "tidemill/base/guard.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/graph_error.hpp"
#include "tidemill/runtime/threads/run_error.hpp"
#include "tidemill/runtime/threads/run_gate.hpp"
#include "tidemill/runtime/threads/thread_pool.hpp"

namespace tidemill {

namespace {

// Number of the frames out of `frames` whose number is `copy` modulo `copies`.
std::uint64_t share_of(std::uint64_t frames, std::size_t copy, std::size_t copies) {
    if (frames == kEndless) return frames;
    return frames / copies + (copy < frames % copies ? 1 : 0);
}

}  // namespace

struct Duplicates::Copies {
    struct Copy {
        std::unique_ptr<Graph> graph;  // null for the first
        std::unique_ptr<Sequence> sequence;
    };

    Copies(Graph& original, std::size_t count) : graph(original) {
        for (std::size_t c = 0; c < count; ++c) {
            Copy& copy = copies.emplace_back();
            if (c > 0) copy.graph = std::make_unique<Graph>(graph.duplicate());
            copy.sequence = std::make_unique<Sequence>(c > 0 ? *copy.graph : graph);
        }
    }

    std::vector<RunReport> run(const RunOptions& options);
    void merge_totals();

    Graph& graph;
    RunGate gate{};
    std::vector<Copy> copies;
    ThreadPool pool{};
};

Duplicates::Duplicates(Graph& graph, std::size_t copies) {
    if (copies == 0) throw GraphError("0 duplicates of a graph; give 1 or more");
    copies_ = std::make_unique<Copies>(graph, copies);
}

Duplicates::~Duplicates() {
    if (copies_->gate.end()) return;
    copies_->pool.wait_for_others();
    copies_.release();
}

std::vector<RunReport> Duplicates::run(const RunOptions& options) {
    if (!options.observers.empty()) throw GraphError("observers look at one run: give none to duplicates");
    return copies_->run(options);
}

std::vector<RunReport> Duplicates::Copies::run(const RunOptions& options) {
    std::vector<RunReport> reports(copies.size());
    std::vector<std::exception_ptr> failures(copies.size());
    std::stop_source all;
    const std::stop_callback on_request(options.stop, [&] { all.request_stop(); });
    const RunGate::Open open(gate, [&] { all.request_stop(); });
    const InsideRun* const runs = InsideRun::all();
    std::vector<ThreadPool::Job> jobs;
    for (std::size_t c = 0; c < copies.size(); ++c) {
        jobs.push_back([&, c] {
            const InsideRun::Helper inside(runs);
            RunOptions own = options;
            own.frames = share_of(options.frames, c, copies.size());
            own.numbers = {options.numbers.of(c), options.numbers.step * copies.size()};
            own.stop = all.get_token();
            if (c > 0) own.energy_meter = nullptr;  // it measures the machine, not a thread
            failures[c] = internal::thrown_by([&] { reports[c] = copies[c].sequence->run(own); });
            if (failures[c]) all.request_stop();
        });
    }
    pool.run_all(std::move(jobs), [&] { all.request_stop(); });
    merge_totals();
    for (const std::exception_ptr& failure : failures) {
        if (failure) std::rethrow_exception(failure);
    }
    return reports;
}

void Duplicates::Copies::merge_totals() {
    for (const Copy& copy : copies) {
        for (std::size_t m = 0; copy.graph && m < graph.module_count(); ++m) {
            Module& module = graph.module(m);
            const auto failure = internal::thrown_by([&] {
                module.merge(copy.graph->module(m));
                copy.graph->module(m).reset_counters();
            });
            if (failure) throw ModuleError(module.name(), "merge", failure);
        }
    }
}

}  // namespace tidemill
