#pragma once

#include <string>
#include <vector>

#include "tidemill/scheduling/dynamic/policy.hpp"

namespace tidemill::cli {

/// Workers on modelled cores of several kinds.
struct WorkerKinds {
    std::vector<std::string> names{};     ///< of the kinds
    std::vector<policy::KindId> kinds{};  ///< of each worker, kind after kind
    std::vector<double> speeds{};         ///< of each worker; 1 for kinds without one
};

/// Reads "big=4,little=4" and the speeds "little=0.5". Throws WrongUsage.
WorkerKinds parse_worker_kinds(const std::string& cores, const std::string& speeds);

/// Reads "TYPE=KIND" for task types that are confined to a kind, or to several: the kinds for each task type.
/// All task types of a name are meant. Throws WrongUsage for a task type or kind that there is not.
std::vector<policy::KindSet> parse_type_kinds(const std::vector<std::string>& only,
                                              const std::vector<std::string>& types,
                                              const WorkerKinds& workers);

}  // namespace tidemill::cli
