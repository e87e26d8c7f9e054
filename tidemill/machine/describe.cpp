#include "tidemill/machine/describe.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "tidemill/base/plural.hpp"

namespace tidemill {
namespace {

using Row = std::vector<std::string>;

// Two spaces of margin and of gap, no trailing spaces; `sides` has '<' or '>' per column, where text is
// flush.
std::string table(std::string_view sides, const std::vector<Row>& rows) {
    std::vector<std::size_t> widths(sides.size());
    for (const Row& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i)
            text += sides[i] == '>' ? fmt::format("  {:>{}}", row[i], widths[i])
                                    : fmt::format("  {:<{}}", row[i], widths[i]);
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
    }
    return text;
}

std::string core_ranges(const Topology& topology, const std::vector<std::size_t>& cores) {
    std::vector<int> numbers;
    numbers.reserve(cores.size());
    for (std::size_t core : cores) numbers.push_back(topology.cores[core].number);
    return internal::number_ranges("core", std::move(numbers));
}

PuSet pus_of(const Topology& topology, const std::vector<std::size_t>& cores) {
    PuSet pus;
    for (std::size_t core : cores) {
        const PuSet& some = topology.cores[core].pus;
        pus.insert(pus.end(), some.begin(), some.end());
    }
    return pus;
}

std::string count(std::size_t number, std::string_view word) {
    return fmt::format("{} {}{}", number, word, plural(number));
}

std::string or_dash(const std::optional<int>& value) {
    return value ? fmt::format("{}", *value) : "-";
}

std::string size_text(std::size_t bytes) {
    constexpr std::size_t kKib = 1024;
    constexpr std::size_t kMib = 1024 * kKib;
    if (bytes == 0) return "unknown size";
    if (bytes % kMib == 0) return fmt::format("{} MiB", bytes / kMib);
    if (bytes > kMib) return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / kMib);
    return fmt::format("{} KiB", bytes / kKib);
}

std::string kinds_table(const Topology& topology) {
    std::vector<Row> rows{{"kind", "cores", "PUs", "capacity", "max MHz", "type"}};
    for (const CoreKind& kind : topology.kinds)
        rows.push_back({kind.name, fmt::format("{}", kind.cores.size()),
                        fmt::format("{}", pus_of(topology, kind.cores).size()), or_dash(kind.capacity),
                        or_dash(kind.max_frequency_mhz), kind.core_type.empty() ? "-" : kind.core_type});
    return table("<>>>><", rows);
}

std::string clusters_table(const Topology& topology) {
    std::vector<Row> rows{{"cluster", "kind", "cores", "PUs"}};
    for (const Cluster& cluster : topology.clusters)
        rows.push_back({fmt::format("{}", rows.size() - 1), topology.kinds[cluster.kind].name,
                        core_ranges(topology, cluster.cores), to_string(pus_of(topology, cluster.cores))});
    return table("><<<", rows);
}

// Caches alike in level, size and number of sharing cores share a row.
std::string caches_table(const Topology& topology) {
    std::map<std::tuple<int, std::size_t, std::size_t>, std::vector<const Cache*>> alike;
    for (const Cache& cache : topology.caches)
        alike[{cache.level, cache.size_bytes, cache.cores.size()}].push_back(&cache);
    std::vector<Row> rows{{"cache", "size", "number", "shared by", "cores"}};
    for (const auto& [key, caches] : alike) {
        std::vector<std::size_t> cores;
        for (const Cache* cache : caches) cores.insert(cores.end(), cache->cores.begin(), cache->cores.end());
        const auto [level, size, sharers] = key;
        rows.push_back({fmt::format("L{}", level), size_text(size), fmt::format("{}", caches.size()),
                        count(sharers, "core"), core_ranges(topology, cores)});
    }
    return table("<>><<", rows);
}

std::string left_out(const Topology& topology) {
    std::string text;
    if (topology.hidden_pus > 0)
        text +=
            fmt::format("\n{} more cannot be used: off line, or outside the affinity mask or control group\n",
                        count(static_cast<std::size_t>(topology.hidden_pus), "PU"));
    if (topology.cores_by_quota() < topology.cores.size())
        text += fmt::format(
            "\nthe control group has a quota of {:.3g} CPUs: {} counted\n", *topology.cpu_quota,
            topology.cores_by_quota() == 1 ? "1 core is"
                                           : fmt::format("{} cores are", topology.cores_by_quota()));
    if (topology.unnamed_pus > 0)
        text += fmt::format("\n{} more left out: the kinds given by hand do not name them\n",
                            count(static_cast<std::size_t>(topology.unnamed_pus), "PU"));
    return text;
}

}  // namespace

std::string describe(const Topology& topology) {
    std::string text =
        fmt::format("{}, {}, {}, {}\ncore kinds from: {}\n\n", count(topology.cores.size(), "core"),
                    count(topology.pus().size(), "PU"), count(topology.kinds.size(), "kind"),
                    count(static_cast<std::size_t>(topology.numa_nodes), "NUMA node"), topology.kinds_from);
    text += kinds_table(topology) + '\n' + clusters_table(topology);
    if (!topology.caches.empty()) text += '\n' + caches_table(topology);
    return text + left_out(topology);
}

}  // namespace tidemill
