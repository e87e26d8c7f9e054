#include "tidemill/options/kinds_option.hpp"

#include <filesystem>

#include "tidemill/scheduling/static/cost_model_file.hpp"

namespace tidemill::cli {

void add_kinds_option(Verb& verb, std::string& kinds) {
    verb.option(
            "--kinds", kinds,
            "Kinds of cores, big first, as logical PU numbers, e.g. big=0-3,little=4-7; or a model file of "
            "calibrate --kinds")
        .shows("as the machine reports");
}

Topology topology_by(const std::string& kinds) {
    std::error_code none;
    if (!std::filesystem::is_regular_file(kinds, none)) return Topology::here(kinds);
    Topology topology = Topology::here(read_core_kinds(kinds));
    topology.kinds_from = kinds;
    return topology;
}

}  // namespace tidemill::cli
