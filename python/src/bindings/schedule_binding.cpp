#include "bindings/schedule_binding.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/interpreter.hpp"
#include "bindings/json_object.hpp"
#include <nanobind/operators.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "tidemill/base/json.hpp"
#include "tidemill/options/scheduling_options.hpp"
#include "tidemill/scheduling/model/schedule_json.hpp"
#include "tidemill/scheduling/model/simulator.hpp"
#include "tidemill/scheduling/static/assumed_kind.hpp"
#include "tidemill/scheduling/static/cost_model_file.hpp"
#include "tidemill/scheduling/static/device_choice.hpp"
#include "tidemill/scheduling/static/herad.hpp"
#include "tidemill/scheduling/static/profile_file.hpp"
#include "tidemill/scheduling/static/schedule_config.hpp"
#include "tidemill/scheduling/static/schedule_file.hpp"

namespace tidemill::python {

namespace {

using nb::literals::operator""_a;

constexpr const char* kFromText = "the text";

/// Wishes as texts, in the words of the program's options.
struct Wishes {
    std::optional<std::string> cores;
    std::optional<std::string> watts;
    std::optional<std::filesystem::path> model;
    std::string strategy;
    std::string objective;
    std::optional<double> period_us;
    std::optional<double> rate_hz;
    std::optional<std::string> free;
};

ScheduleConfig schedule_config(const Wishes& wishes) {
    ScheduleConfig how{.strategy = &strategy(wishes.strategy), .rate_hz = wishes.rate_hz};
    const auto preference = parse_preference(wishes.objective);
    if (!preference) throw ScheduleError("objective '" + wishes.objective + "': give cores, power or stages");
    how.objective.among_equals = *preference;
    how.objective.wanted_period_us = wishes.period_us;
    if (wishes.free) how.objective.leave_free = parse_platform(*wishes.free);
    if (wishes.cores) how.cores = parse_platform(*wishes.cores);
    if (wishes.watts) how.watts = parse_watts(*wishes.watts);
    if (wishes.model) how.model = read_cost_model(*wishes.model);
    return how;
}

Platform cores_of(const ScheduleConfig& how, const Profile& profile) {
    if (!how.cores && profile.cores == Platform{})
        throw ScheduleError("the profile names no cores: give for instance cores={\"big\": 4}");
    return how.cores_for(profile);
}

nb::tuple make_schedule(const Profile& profile, const ScheduleConfig& how) {
    DeviceChoice choice;
    do_up_to_interruption([&] {
        choice = choose_device(profile, cores_of(how, profile), how.chosen_strategy(),
                               how.objective_for(profile), how.model_for(profile));
    });
    return nb::make_tuple(nb::cast(std::move(choice.schedule)), choice.why);
}

// A schedule with what a profile says of it: period, stages and their weights, and how far from the best
// possible.
nb::dict describe(const Schedule& schedule, const Profile& profile, const ScheduleConfig& how) {
    check(schedule, profile);
    const CostModel model = how.model_for(profile);
    Platform cores = how.cores ? *how.cores : profile.cores;
    for (const auto& [kind, count] : cores_used(schedule))
        cores.set(kind, std::max(count, cores.count(kind)));
    Json json = cli::result_json(schedule, profile, cores, model);
    do_up_to_interruption([&] {
        json["bound"] = cli::bound_json(
            distance_to_bound(schedule, profile, cores, model, period_us(schedule, profile, model)));
    });
    return to_dict(json);
}

nb::list front(const Profile& profile, const ScheduleConfig& how) {
    std::vector<ParetoPoint> found;
    do_up_to_interruption(
        [&] { found = pareto_front(profile, cores_of(how, profile), how.model_for(profile)); });
    nb::list points;
    for (ParetoPoint& point : found)
        points.append(nb::make_tuple(point.period_us, point.power_w, nb::cast(std::move(point.schedule))));
    return points;
}

using Step = std::tuple<std::size_t, std::size_t, std::uint64_t, double, double>;

nb::tuple simulate_schedule(const Schedule& schedule, const Profile& profile, std::uint64_t frames,
                            std::uint64_t observed, double hop_latency_us, double jitter, std::uint64_t seed,
                            const ScheduleConfig& known) {
    MachineModel machine{.hop_latency_us = hop_latency_us, .jitter = jitter, .seed = seed};
    machine.model = known.model_for(profile);
    std::vector<Step> steps;
    const auto observe = [&](const SimStep& step) {
        if (step.frame < observed)
            steps.emplace_back(step.stage, step.thread, step.frame, step.begin_us, step.end_us);
    };
    SimReport report;
    do_up_to_interruption([&] { report = simulate(model_of(schedule, profile, machine), frames, observe); });
    Json json = cli::simulation_json(report, period_us(schedule, profile, machine.model), profile);
    return nb::make_tuple(to_dict(json), to_table(report), nb::cast(std::move(steps)));
}

void bind_profile(nb::module_& module) {
    nb::class_<Profile>(module, "Profile",
                        "Microseconds that each task of a chain takes on each kind of core.")
        .def_static("read", &read_profile, "path"_a)
        .def_static(
            "from_json", [](const std::string& text) { return parse_profile(text, kFromText); }, "text"_a)
        .def(
            "write",
            [](const Profile& self, const std::filesystem::path& path) { write_profile(self, path); },
            "path"_a)
        .def("to_json", [](const Profile& self) { return to_json(self); })
        .def("with_kind", &with_kind, "kind"_a, "like"_a, "times"_a)
        .def(
            "with_kinds_of",
            [](const Profile& self, const std::string& cores) {
                return with_kinds_of(self, parse_platform(cores));
            },
            "cores"_a)
        .def_ro("kinds", &Profile::kinds)
        .def_ro("warnings", &Profile::warnings)
        .def_ro("measured_by", &Profile::measured_by)
        .def_ro("frames_per_execution", &Profile::frames_per_execution)
        .def_prop_ro("names",
                     [](const Profile& self) {
                         std::vector<std::string> names;
                         for (const ChainTask& task : self.tasks) names.push_back(task.name);
                         return names;
                     })
        .def_prop_ro("replicable",
                     [](const Profile& self) {
                         std::vector<bool> replicable;
                         for (const ChainTask& task : self.tasks) replicable.push_back(task.replicable);
                         return replicable;
                     })
        .def_prop_ro(
            "weights_us",
            [](const Profile& self) {
                std::vector<std::vector<double>> weights;
                for (const ChainTask& task : self.tasks) weights.push_back(task.weight_us);
                return weights;
            },
            "Per task, its weight on each of `kinds`.")
        .def_prop_ro("cores",
                     [](const Profile& self) {
                         nb::dict cores;
                         for (const auto& [kind, count] : self.cores.kinds())
                             if (count > 0) cores[nb::cast(kind)] = count;
                         return cores;
                     })
        .def(nb::self == nb::self);
}

void bind_schedule(nb::module_& module) {
    nb::class_<Schedule>(module, "Schedule", "Stages of a chain, each on cores of a kind.")
        .def_static("read", &read_schedule, "path"_a)
        .def_static(
            "from_json", [](const std::string& text) { return parse_schedule(text, kFromText); }, "text"_a)
        .def(
            "write",
            [](const Schedule& self, const std::filesystem::path& path) { write_schedule(self, path); },
            "path"_a)
        .def("to_json", [](const Schedule& self) { return to_json(self); })
        .def_prop_ro("period_us", [](const Schedule& self) { return self.period_us; })
        .def_ro("made_by", &Schedule::made_by)
        .def_ro("task_names", &Schedule::task_names)
        .def_prop_ro("thread_count", &Schedule::thread_count)
        .def_prop_ro("summary", [](const Schedule& self) { return to_dict(cli::schedule_json(self)); })
        .def("describe", &describe, "profile"_a, "how"_a)
        .def(
            "table", [](const Schedule& self, const Profile& profile) { return to_table(self, profile); },
            "profile"_a)
        .def(nb::self == nb::self);
}

}  // namespace

void bind_schedules(nb::module_& module) {
    bind_profile(module);
    bind_schedule(module);
    nb::class_<ScheduleConfig>(module, "ScheduleConfig")
        .def(
            "__init__",
            [](ScheduleConfig* self, std::optional<std::string> cores, std::optional<std::string> watts,
               std::optional<std::filesystem::path> model, std::string strategy, std::string objective,
               std::optional<double> period_us, std::optional<double> rate_hz,
               std::optional<std::string> free) {
                new (self) ScheduleConfig(schedule_config(
                    {std::move(cores), std::move(watts), std::move(model), std::move(strategy),
                     std::move(objective), period_us, rate_hz, std::move(free)}));
            },
            nb::kw_only(), "cores"_a = nb::none(), "watts"_a = nb::none(), "model"_a = nb::none(),
            "strategy"_a = "herad", "objective"_a = "cores", "period_us"_a = nb::none(),
            "rate_hz"_a = nb::none(), "free"_a = nb::none());
    module.def("schedule", &make_schedule, "profile"_a, "how"_a);
    module.def("front", &front, "profile"_a, "how"_a);
    module.def("simulate", &simulate_schedule, "schedule"_a, "profile"_a, nb::kw_only(), "frames"_a,
               "observed"_a, "hop_latency_us"_a, "jitter"_a, "seed"_a, "known"_a);
    module.def("strategies", [] {
        std::vector<std::tuple<std::string, std::string>> all;
        for (const Strategy& each : strategies()) all.emplace_back(each.name, each.summary);
        return all;
    });
}

}  // namespace tidemill::python
