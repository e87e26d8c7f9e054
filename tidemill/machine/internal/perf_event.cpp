#include "tidemill/machine/internal/perf_event.hpp"

#include <sstream>

#include "tidemill/machine/internal/energy_sensor.hpp"
#include "tidemill/machine/platform_error.hpp"

namespace tidemill::internal {

std::vector<int> read_cpus(const std::string& path) {
    constexpr double kMostCpus = 1 << 16;
    std::vector<int> cpus;
    std::istringstream list(read_line(path));
    for (std::string range; std::getline(list, range, ',');) {
        const std::size_t dash = range.find('-');
        const double first = parse_number(range.substr(0, dash), path);
        const double last = dash == std::string::npos ? first : parse_number(range.substr(dash + 1), path);
        if (first < 0 || last > kMostCpus) throw PlatformError(path + ": not a list of CPUs");
        for (double cpu = first; cpu <= last; ++cpu) cpus.push_back(static_cast<int>(cpu));
    }
    return cpus;
}

}  // namespace tidemill::internal
