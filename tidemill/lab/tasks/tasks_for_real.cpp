#include "tidemill/lab/tasks/tasks_for_real.hpp"

#include <memory>

#include <fmt/format.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/base/plural.hpp"
#include "tidemill/lab/tasks/task_trace.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/runtime/graph/graph_error.hpp"

namespace tidemill::cli {

namespace {

// The names are those of a simulated run, where it has the same.
Json to_json(const RealRun& run, const RealRunOptions& options) {
    Json json{{"program", run.name},
              {"policy", options.policy},
              {"simulated", false},
              {"waits", options.pastime == Pastime::waiting},
              {"workers", run.workers},
              {"tasks", run.tasks},
              {"iterations", run.iterations},
              {"unit", "us"},
              {"makespan", run.makespan_us},
              {"work", run.work_us},
              {"in_tasks", run.in_tasks_us},
              {"efficiency", run.efficiency()},
              {"utilisation", run.utilisation()},
              {"as_in_order", true}};
    if (run.mean_latency_us) {
        json["latency"] = {{"mean", *run.mean_latency_us}, {"most", *run.most_latency_us}};
    }
    if (run.token_bytes) json["peak_bytes"] = *run.token_bytes;
    if (run.peak_tasks) json["peak_tasks"] = *run.peak_tasks;
    if (run.residual) json["residual"] = *run.residual;
    return json;
}

void print_text(const RealRun& run, const RealRunOptions& options) {
    const bool waits = options.pastime == Pastime::waiting;
    print("{} under {} on {} workers: {} tasks in {} iteration{}\n", run.name, options.policy, run.workers,
          run.tasks, run.iterations, plural(run.iterations));
    print("makespan      {:.3f} ms, of {:.3f} ms of work {}\n", run.makespan_us / 1e3, run.work_us / 1e3,
          waits ? "that is waited for" : "in order on one thread");
    print("efficiency    {:.3f} of all workers\n", run.efficiency());
    print("utilisation   {:.3f} of their time in tasks, {:.3f} us each\n", run.utilisation(),
          run.in_tasks_us / static_cast<double>(run.tasks));
    if (run.mean_latency_us) {
        print("latency       {:.3f} ms per iteration, at most {:.3f} ms\n", *run.mean_latency_us / 1e3,
              *run.most_latency_us / 1e3);
    }
    if (run.token_bytes) print("in flight     {} bytes at most\n", *run.token_bytes);
    if (run.peak_tasks) print("in flight     {} tasks at most\n", *run.peak_tasks);
    print("checked       bit by bit as in order{}\n",
          run.residual ? fmt::format("; the factors' product is right to {:.1e}", *run.residual) : "");
}

void write(const RealRun& run, TaskTrace& to) {
    for (const RanTask& task : run.record) to.add(task, run.types[task.type]);
    to.finish();
}

}  // namespace

int run_tasks_for_real(std::string_view program, const TaskProgramSize& size, RealRunOptions options,
                       const std::string& trace, bool json) {
    std::unique_ptr<TaskTrace> to;
    if (!trace.empty()) to = make_task_trace(trace, options.workers);
    options.record = to != nullptr;
    try {
        const RealRun run = run_for_real(program, size, options);
        if (to) write(run, *to);
        if (json) {
            print("{}\n", to_text(to_json(run, options), 2));
        } else {
            print_text(run, options);
        }
    } catch (const WrongResult& error) {
        throw JobFailed(error.what());
    } catch (const GraphError& error) {
        throw WrongUsage(error.what());
    }
    return kDone;
}

}  // namespace tidemill::cli
