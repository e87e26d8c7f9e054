#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tidemill/base/json.hpp"
#include "tidemill/scheduling/unequal/factor_matrix.hpp"
#include "tidemill/steer/roster.hpp"

namespace tidemill::steer {

/// Counts of the daemon's work so far.
struct Counts {
    std::uint64_t moves = 0;      ///< of one thread alone
    std::uint64_t exchanges = 0;  ///< of two threads or more
    std::uint64_t released = 0;   ///< threads that wanted little any more, and have their affinity back
    std::uint64_t undone = 0;     ///< changes that the system let us do in part only
    std::uint64_t refused = 0;    ///< threads that the system does not let us steer
};

/// How a thread stands that wants something of the cores.
struct ThreadReport {
    int process = 0;
    int thread = 0;
    std::string program{};
    Standing standing = Standing::free;
    std::string kind{};
    double demand = 0;
    double weight = 1;
    std::vector<bridge::Factor> factors{};  ///< by kind
    double over_alone = 1;                  ///< its speed over that which it would have without steering
};

struct KindReport {
    std::string name;
    unsigned cores = 0;  ///< on line
    int confined = 0;    ///< threads
};

/// State of a daemon, its work, and how fast the threads are by what is known of them.
struct Report {
    bool dry_run = false;
    double up_s = 0;
    double processor_s = 0;  ///< that the daemon itself took
    std::size_t processes = 0;
    std::size_t threads = 0;
    std::vector<std::size_t> by_standing{};  ///< in the order of Standing
    std::vector<KindReport> kinds{};
    Counts counts{};
    double mean_over_alone = 1;  ///< geometric mean over active threads
    double worst_over_alone = 1;
    std::string shortage{};
    std::vector<ThreadReport> active{};  ///< the most demanding first, two hundred at most
    std::vector<std::string> recent{};   ///< changes in words, the last ones last
};

Json to_json(const Report& report);
/// For people.
std::string describe(const Report& report);
/// In the text format of Prometheus.
std::string to_metrics(const Report& report);

}  // namespace tidemill::steer
