#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "tidemill/base/json.hpp"
#include "tidemill/base/plural.hpp"
#include "tidemill/lab/lab_verbs.hpp"
#include "tidemill/lab/sim/task_programs.hpp"
#include "tidemill/lab/sim/task_simulator.hpp"
#include "tidemill/lab/tasks/profile_tasks.hpp"
#include "tidemill/lab/tasks/task_trace.hpp"
#include "tidemill/lab/tasks/tasks_for_real.hpp"
#include "tidemill/lab/tasks/worker_kinds.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/scheduling/static/profile_file.hpp"

namespace tidemill::cli {

namespace {

// Eleven days: sums of such times are still exact.
constexpr double kLongestUs = 1e12;

struct TasksOptions {
    std::string program;
    std::string cores;
    std::string speeds;
    std::vector<std::string> only;
    std::string trace;
    std::optional<Profile> profile;
    const Option* placing_given = nullptr;
    Pastime work = Pastime::computing;
    bool simulate = false;
    bool json = false;
    std::vector<const Option*> of_models;         // what real workers do not have
    std::vector<const Option*> also_of_profiles;  // of these, what a profile's real workers have
    const Option* work_given = nullptr;
    std::uint64_t window_iterations = 16;
    std::uint64_t window_tasks = policy::Window::kUnlimited;
    std::uint64_t window_bytes = policy::Window::kUnlimited;
    double interval_ms = 100;
    TaskProgramSize size;
    TaskMachine machine;
    TaskScheduling scheduling{.policy = "gpriority"};
};

int list_programs(bool json) {
    Json names = Json::array();
    for (const TaskProgramName& each : task_programs()) {
        names.push_back({{"name", each.name}, {"summary", each.summary}});
        if (!json) print("{:<17}  {}\n", each.name, each.summary);
    }
    if (json) print("{}\n", to_text(Json{{"programs", names}}, 2));
    return kDone;
}

Json to_json(const TasksOptions& options, const TaskProgram& program, const SimulatedTasks& report,
             double efficiency) {
    return {{"program", program.name()},
            {"policy", options.scheduling.policy},
            {"simulated", true},
            {"workers", report.workers},
            {"tasks", report.tasks},
            {"iterations", program.iterations()},
            {"unit", "us"},
            {"makespan", report.makespan_us},
            {"work", report.work_us},
            {"efficiency", efficiency},
            {"utilisation", report.utilisation},
            {"settled_utilisation", report.settled_utilisation},
            {"latency", {{"mean", report.mean_latency_us}, {"most", report.most_latency_us}}},
            {"peak_bytes", report.peak_bytes},
            {"peak_tasks", report.peak_tasks},
            {"master_share", report.master_share}};
}

void print_text(const TasksOptions& options, const TaskProgram& program, const SimulatedTasks& report,
                double efficiency) {
    print("{} under {} on {} simulated workers: {} tasks in {} iteration{}\n", program.name(),
          options.scheduling.policy, report.workers, report.tasks, program.iterations(),
          plural(program.iterations()));
    print("makespan      {:.3f} ms, of {:.3f} ms of work\n", report.makespan_us / 1e3, report.work_us / 1e3);
    print("efficiency    {:.3f} of all workers' speed\n", efficiency);
    print("utilisation   {:.3f}, once settled {:.3f}\n", report.utilisation, report.settled_utilisation);
    print("latency       {:.3f} ms per iteration, at most {:.3f} ms\n", report.mean_latency_us / 1e3,
          report.most_latency_us / 1e3);
    print("in flight     {} tasks and {} renamed bytes at most\n", report.peak_tasks, report.peak_bytes);
    if (report.master_share > 0)
        print("master        busy {:.1f} % of the time\n", 100 * report.master_share);
}

// Real workers have none of these, but for those that stand in `but`.
void check_no_models(const TasksOptions& options, const std::vector<const Option*>& but = {}) {
    for (const Option* option : options.of_models) {
        if (option->given.empty() || std::ranges::count(but, option) > 0) continue;
        throw WrongUsage(
            fmt::format("{} is of modelled workers: add --simulate, or leave it out", option->name()));
    }
}

int run_for_real(const TasksOptions& options) {
    check_no_models(options);
    RealRunOptions real;
    real.policy = options.scheduling.policy;
    real.workers = options.size.workers;
    real.window = options.scheduling.window;
    real.adapting = options.scheduling.adapting;
    real.pastime = options.work;
    return run_tasks_for_real(options.program, options.size, real, options.trace, options.json);
}

int simulate(TasksOptions options) {
    if (!options.work_given->given.empty()) throw WrongUsage("--work is of real runs: leave --simulate out");
    if (options.scheduling.placing == Placing::known)
        throw WrongUsage("--factors known is of a --profile: take learned");
    WorkerKinds workers = parse_worker_kinds(options.cores, options.speeds);
    if (options.cores.empty()) workers.speeds.assign(options.size.workers, 1);
    options.size.workers = static_cast<unsigned>(workers.speeds.size());
    const auto program = make_task_program(options.program, options.size);
    options.scheduling.type_kinds = parse_type_kinds(options.only, program->types(), workers);
    options.machine.speeds = std::move(workers.speeds);
    options.machine.kinds = std::move(workers.kinds);
    std::unique_ptr<TaskTrace> trace;
    if (!options.trace.empty()) trace = make_task_trace(options.trace, options.machine.speeds.size());
    const auto observe = [&](const RanTask& task) { trace->add(task, program->types()[task.type]); };
    const SimulatedTasks report =
        simulate_tasks(*program, options.machine, options.scheduling,
                       trace ? std::function<void(const RanTask&)>(observe) : nullptr);
    if (trace) trace->finish();
    double speed = 0;
    for (const double each : options.machine.speeds) speed += each;
    if (options.json) {
        print("{}\n", to_text(to_json(options, *program, report, report.efficiency(speed)), 2));
    } else {
        print_text(options, *program, report, report.efficiency(speed));
    }
    return kDone;
}

int run_profile_tasks(const TasksOptions& options) {
    if (!options.program.empty())
        throw WrongUsage("--profile is a program by itself: leave the other one out");
    if (!options.simulate) check_no_models(options, options.also_of_profiles);
    if (!options.work_given->given.empty())
        throw WrongUsage("--profile says itself what its tasks take: leave --work out");
    if (!options.speeds.empty() || !options.only.empty() || !options.trace.empty())
        throw WrongUsage(
            "--profile says itself what tasks take where: leave --speeds, --only and --trace out");
    ProfileTasks wanted{*options.profile,        options.cores,   options.simulate,
                        options.size.iterations, options.machine, options.scheduling};
    if (options.placing_given->given.empty()) wanted.scheduling.placing = Placing::learned;
    return wanted.run(options.json);
}

int run_tasks(TasksOptions options) {
    if (options.program.empty() && !options.profile) return list_programs(options.json);
    options.scheduling.window = {options.window_iterations, options.window_tasks, options.window_bytes};
    options.scheduling.adapting.interval_ns = static_cast<std::uint64_t>(options.interval_ms * 1e6);
    options.scheduling.adapting.starved_interval_ns = 5 * options.scheduling.adapting.interval_ns;
    if (options.profile) return run_profile_tasks(options);
    return options.simulate ? simulate(std::move(options)) : run_for_real(options);
}

const Range kWindow = between(1, 1e12);

void add_scheduling_options(Verb& verb, TasksOptions& options) {
    verb.option("--policy", options.scheduling.policy,
                "A policy, or several with commas, each breaking the ties of those before");
    verb.option("--window", options.window_iterations, "Iterations in flight at most").in(kWindow);
    verb.option("--window-tasks", options.window_tasks, "Tasks in flight at most")
        .in(kWindow)
        .shows("no limit");
    verb.option("--window-bytes", options.window_bytes, "Renamed bytes at most")
        .in(kWindow)
        .shows("no limit");
    verb.option("--interval-ms", options.interval_ms, "Between looks of the adaptive policies")
        .in(between(0.001, 1e6));
}

void add_machine_options(Verb& verb, TasksOptions& options) {
    verb.option("--workers", options.size.workers, "Workers; simulated ones are of speed 1")
        .in(between(1, 1024));
    Option& cores = verb.option("--cores", options.cores, "Workers per kind, e.g. big=4,little=4");
    Option& speeds = verb.option("--speeds", options.speeds, "Speeds of kinds other than 1, e.g. little=0.5")
                         .needs("--cores");
    Option& only =
        verb.option("--only", options.only, "TYPE=KIND: the task type runs on that kind only; again for more")
            .needs("--cores");
    Option& placing =
        verb.choice(
                "--factors", options.scheduling.placing,
                {{"none", Placing::none}, {"learned", Placing::learned}, {"known", Placing::known}},
                "What places tasks on kinds of cores: nothing, or times that are learned or, of a profile, "
                "known")
            .shows("none; of a profile learned");
    options.placing_given = &placing;
    Option& noise = verb.option("--noise", options.machine.noise, "Relative standard deviation of task times")
                        .in(between(0, 100));
    Option& seed = verb.option("--seed", options.machine.seed, "Of the noise");
    Option& create =
        verb.option("--create-us", options.machine.create_us, "That the master spends on creating a task")
            .in(between(0, kLongestUs));
    Option& change = verb.option("--change-us", options.machine.change_us,
                                 "And on each priority of another task that this changes")
                         .in(between(0, kLongestUs));
    Option& overhead = verb.option("--overhead-us", options.machine.task_us,
                                   "That a worker spends on issuing and completing one")
                           .in(between(0, kLongestUs));
    Option& apart = verb.flag("--master-apart", options.machine.master_works,
                              "The master is a thread of its own that runs no tasks", false);
    options.of_models = {&placing, &cores,  &speeds, &only,     &noise,
                         &seed,    &create, &change, &overhead, &apart};
    options.also_of_profiles = {&placing, &cores};
}

}  // namespace

void add_tasks(Verb& program) {
    auto options = std::make_shared<TasksOptions>();
    Verb& verb = program.verb(
        "tasks", "Run a program of tasks under a dynamic scheduling policy; alone, list the programs");
    verb.footer(
        "Example: tidemill tasks fm --policy gpriority --workers 8 --simulate\n"
        "         tidemill tasks fm --policy gpriority --workers 8 --work waited\n"
        "         tidemill tasks --profile data/profiles/dvbs2-rx-x7ti.json --cores big=1,little=1\n"
        "What ran for real is compared with a run in order, and that decides the exit status.");
    verb.option("program", options->program, "Which program");
    verb.file(
        "--profile", options->profile, read_profile,
        "A profile's chain as the program; without --simulate on cores that are made as slow as it says");
    verb.flag("--simulate", options->simulate, "On modelled workers");
    options->work_given = &verb.choice("--work", options->work,
                                       {{"computed", Pastime::computing}, {"waited", Pastime::waiting}},
                                       "How real tasks pass their time; waited: for more workers than cores");
    verb.option("--iterations", options->size.iterations, "Of a stream, frames of the decoder")
        .in(between(1, 10000000))
        .shows("as many as suit");
    verb.option("--task-us", options->size.task_us,
                "Mean time of a StreamIt task and of real ones that wait; unit of real worst cases")
        .in({.least = 0, .most = kLongestUs, .least_itself = false});
    verb.option("--unroll", options->size.unroll, "Firings per iteration, of worst cases that have a choice")
        .in(between(1, 1024));
    verb.option("--blocks", options->size.blocks,
                "Of a factorisation: so many tiles by as many; particles of pairs")
        .in(between(2, 128));
    Option& coarse = verb.flag("--coarse", options->size.coarse,
                               "All firings of a StreamIt task type in an iteration are one task");
    add_scheduling_options(verb, *options);
    add_machine_options(verb, *options);
    options->of_models.push_back(&coarse);
    verb.option("--trace", options->trace,
                "Write what each worker did: FILE.svg, or events for chrome://tracing and Perfetto")
        .is(Kind::output_file);
    verb.flag("--json", options->json, "One JSON object on standard output");
    verb.does([options] { return run_tasks(*options); });
}

}  // namespace tidemill::cli
