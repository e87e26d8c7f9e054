// The functions and classes of the laboratory: random chains under all strategies, published figures,
// programs of tasks.

#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/errors.hpp"
#include "bindings/interpreter.hpp"
#include "bindings/json_object.hpp"
#include "bindings/lab/task_simulation_binding.hpp"
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "tidemill/lab/reproduce/reproduction.hpp"
#include "tidemill/lab/sim/random_chain.hpp"
#include "tidemill/lab/sim/sim_error.hpp"
#include "tidemill/lab/sim/strategy_study.hpp"
#include "tidemill/scheduling/static/profile_file.hpp"
#include "tidemill/scheduling/static/schedule_error.hpp"

namespace tidemill::python {

namespace {

using nb::literals::operator""_a;

// The results of each published strategy on one random chain: name, period over the best, cores of either
// kind.
std::vector<std::tuple<std::string, double, double, double>> study_chain(const ChainLaw& law, int big,
                                                                         int little, std::uint64_t seed) {
    Platform cores;
    cores.set("big", big);
    cores.set("little", little);
    std::vector<StrategyResults> studied;
    do_up_to_interruption([&] { studied = study_strategies(law, cores, 1, seed); });
    std::vector<std::tuple<std::string, double, double, double>> made;
    for (const StrategyResults& each : studied)
        made.emplace_back(each.strategy, each.slowdown[0], each.big[0], each.little[0]);
    return made;
}

Profile random_profile(const ChainLaw& law, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Profile profile;
    static_cast<Chain&>(profile) = random_chain(random, law);
    return profile;
}

void bind_random_chains(nb::module_& module) {
    nb::class_<ChainLaw>(module, "ChainLaw", "What random chains look like.")
        .def(
            "__init__",
            [](ChainLaw* self, std::size_t tasks, double stateless, int heaviest, double slowest) {
                if (tasks < 1 || tasks > 1000 || !(stateless >= 0 && stateless <= 1) || heaviest < 1 ||
                    !(slowest >= 1 && slowest <= 1e6))
                    throw ScheduleError(
                        "random chains: give 1 to 1000 tasks, a stateless share from 0 to 1, a heaviest "
                        "weight of 1 or "
                        "more, and a slowest from 1 to 1000000");
                new (self) ChainLaw{tasks, stateless, heaviest, slowest};
            },
            nb::kw_only(), "tasks"_a, "stateless"_a, "heaviest"_a, "slowest"_a);
    module.def("study_chain", &study_chain, "law"_a, nb::kw_only(), "big"_a, "little"_a, "seed"_a);
    module.def("random_profile", &random_profile, "law"_a, nb::kw_only(), "seed"_a);
}

nb::list reproduce(const std::string& name, std::size_t chains, std::size_t timed, std::uint64_t frames,
                   std::uint64_t tasks, std::uint64_t seed) {
    const cli::Reproduction& wanted = cli::reproduction_of(name);
    std::vector<cli::ResultTable> tables;
    do_up_to_interruption([&] {
        tables =
            wanted.make({.chains = chains, .timed = timed, .frames = frames, .seed = seed, .tasks = tasks});
    });
    nb::list all;
    for (const cli::ResultTable& table : tables) all.append(to_dict(cli::to_json(table)));
    return all;
}

nb::list reproductions() {
    nb::list names;
    for (const cli::Reproduction& each : cli::reproductions())
        names.append(nb::make_tuple(std::string(each.name), std::string(each.summary)));
    return names;
}

void bind_reproductions(nb::module_& module) {
    module.def("reproduce", &reproduce, "name"_a, nb::kw_only(), "chains"_a, "timed"_a, "frames"_a, "tasks"_a,
               "seed"_a);
    module.def("reproductions", &reproductions);
}

}  // namespace

}  // namespace tidemill::python

NB_MODULE(_lab, module) {
    namespace python = tidemill::python;
    module.doc() = "The laboratory of the package tidemill; import that.";
    python::nb::module_::import_("tidemill._core");  // its types are arguments and results here
    module.def("raise_sim_errors_as", &python::raise_as<tidemill::SimError>);
    module.def("end_live_runs", &python::end_live_runs);
    python::bind_random_chains(module);
    python::bind_task_simulation(module);
    python::bind_reproductions(module);
}
