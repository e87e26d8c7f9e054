#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace tidemill::internal {

/// Two threads that hand frames over, and what that costs each of both where they sit in two clusters.
struct Talk {
    std::size_t from = 0;
    std::size_t to = 0;
    std::int64_t far_ps = 0;
};

/// Threads to be put into clusters of cores. Times are whole picoseconds per execution, so that equal is
/// equal.
struct ClusterProblem {
    std::vector<std::int64_t> busy_ps{};  // [thread], wherever it sits
    std::vector<Talk> talks{};
    std::vector<std::size_t> rooms{};  // [cluster]: threads, in all at least as many as there are
    std::int64_t least_period_ps = 0;  // whatever else there is allows no less
};

/// Where threads sit, and what that comes to.
struct ClusterChoice {
    std::vector<std::size_t> clusters{};  // [thread]
    std::int64_t period_ps = 0;
    std::int64_t far_ps = 0;  // that far cuts take, on one side each
    std::size_t used = 0;     // clusters

    auto rank() const { return std::tuple(period_ps, far_ps, used); }
};

/// The choice of least rank, unless the search ends before after so many steps, looks at what a thread and
/// one that it talks to have to do with each other in some cluster: then the best so far, at first that in
/// which each thread goes where it costs least, those that talk most one after the other.
ClusterChoice best_clusters(const ClusterProblem& problem, std::size_t most_steps = 500'000);

}  // namespace tidemill::internal
