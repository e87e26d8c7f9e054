#include "tidemill/run/job/near_cores.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tidemill::internal {

namespace {

constexpr double kSeconds = 0.02;  // a stream may stand still meanwhile
constexpr double kSecondsOfPair = 0.003;
constexpr double kClearlyFarther = 1.5;

bool some_are_far(const CoreDistances& distances) {
    double least = std::numeric_limits<double>::infinity();
    double most = 0;
    for (std::size_t a = 0; a < distances.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            least = std::min(least, distances[a][b]);
            most = std::max(most, distances[a][b]);
        }
    }
    return most > kClearlyFarther * least;
}

}  // namespace

NearCores NearCores::measured(const Topology& topology, const Platform& cores) {
    std::vector<CoreDistances> of_kinds;
    for (const CoreKind& kind : topology.kinds) {
        std::vector<std::size_t> used = kind.cores;
        used.resize(std::min(used.size(), static_cast<std::size_t>(cores.count(kind.name))));
        const double pairs = static_cast<double>(used.size() * used.size()) / 2;
        of_kinds.push_back(core_distances(topology, used, std::min(kSeconds, kSecondsOfPair * pairs)));
    }
    return {topology, std::move(of_kinds)};
}

NearCores::NearCores(const Topology& topology, std::vector<CoreDistances> of_kinds) {
    double sum_ns = 0;
    std::size_t neighbours = 0;
    for (std::size_t k = 0; k < of_kinds.size(); ++k) {
        const std::vector<std::size_t> row = row_of_near(of_kinds[k]);
        for (std::size_t i = 1; i < row.size(); ++i, ++neighbours) sum_ns += of_kinds[k][row[i - 1]][row[i]];
        if (!some_are_far(of_kinds[k])) continue;
        CoreResource& resource = rows_.emplace_back(CoreResource{topology.kinds[k].name, {}, 1, {}});
        for (const std::size_t core : row) {
            const int number = topology.cores[topology.kinds[k].cores[core]].number;
            resource.nodes.push_back({NodeRange::Unit::kCore, number, number});
        }
    }
    if (neighbours > 0) hand_over_us_ = sum_ns / static_cast<double>(neighbours) / 1000;
}

void NearCores::place(Schedule& schedule) const {
    for (const CoreResource& row : rows_) {
        const auto known = std::ranges::find(schedule.resources, row.kind, &CoreResource::kind);
        if (known == schedule.resources.end())
            schedule.resources.push_back(row);
        else if (known->nodes.empty())
            *known = row;
    }
}

}  // namespace tidemill::internal
