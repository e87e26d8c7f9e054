#include <memory>

#include <fmt/format.h>

#include "tidemill/apps/running/app_verbs.hpp"
#include "tidemill/apps/running/devices.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/machine/counters.hpp"
#include "tidemill/machine/describe.hpp"
#include "tidemill/machine/topology.hpp"
#include "tidemill/options/kinds_option.hpp"
#include "tidemill/options/standard_streams.hpp"

namespace tidemill::cli {

namespace {

Json numbers_of(const Topology& topology, const std::vector<std::size_t>& cores) {
    Json numbers = Json::array();
    for (const std::size_t core : cores) numbers.push_back(topology.cores[core].number);
    return numbers;
}

Json to_json(const Topology& topology) {
    Json json{{"kinds_from", topology.kinds_from}, {"numa_nodes", topology.numa_nodes}};
    json["hidden_pus"] = topology.hidden_pus;
    if (topology.cpu_quota) json["cpu_quota"] = *topology.cpu_quota;
    for (const CoreKind& kind : topology.kinds) {
        Json entry{{"name", kind.name}, {"cores", numbers_of(topology, kind.cores)}};
        if (kind.capacity) entry["capacity"] = *kind.capacity;
        if (kind.max_frequency_mhz) entry["max_frequency_mhz"] = *kind.max_frequency_mhz;
        json["kinds"].push_back(entry);
    }
    for (const Core& core : topology.cores) {
        Json pus = Json::array();
        for (const Pu& pu : core.pus) pus.push_back(pu.number);
        json["cores"].push_back({{"number", core.number},
                                 {"pus", pus},
                                 {"kind", topology.kinds[core.kind].name},
                                 {"cluster", core.cluster},
                                 {"numa_node", core.numa_node}});
    }
    for (const Cache& cache : topology.caches) {
        json["caches"].push_back({{"level", cache.level},
                                  {"size_bytes", cache.size_bytes},
                                  {"cores", numbers_of(topology, cache.cores)}});
    }
    return json;
}

/// Hardware beside the cores.
struct Extras {
    ListedDevices devices = cli::devices().list();
    FoundCounters counters = find_counters();
};

Json all_to_json(const Topology& topology, const Extras& extras) {
    Json json = to_json(topology);
    json["devices"] = extras.devices.found;
    json["no_devices"] = extras.devices.absent;
    if (extras.counters.counters)
        json["counters"] = extras.counters.counters->name();
    else
        json["no_counters"] = extras.counters.reason;
    return json;
}

std::string to_text(const Topology& topology, const Extras& extras) {
    const FoundCounters& found = extras.counters;
    return fmt::format("{}devices\n{}counters\n{}\n", describe(topology), extras.devices.text,
                       found.counters ? found.counters->name() : "none      " + found.reason);
}

}  // namespace

void add_topo(Verb& program) {
    struct Options {
        std::string kinds;
        bool json = false;
    };
    auto options = std::make_shared<Options>();
    Verb& verb =
        program.verb("topo", "Show the cores, kinds, clusters, caches, devices and counters of this machine");
    verb.footer(fmt::format("Example: {} topo --kinds fast=0", program.name()));
    add_kinds_option(verb, options->kinds);
    verb.flag("--json", options->json, "One JSON object on standard output");
    verb.does([options] {
        const Topology topology = topology_by(options->kinds);
        const Extras extras;
        print("{}",
              options->json ? to_text(all_to_json(topology, extras), 2) + "\n" : to_text(topology, extras));
        return kDone;
    });
}

}  // namespace tidemill::cli
