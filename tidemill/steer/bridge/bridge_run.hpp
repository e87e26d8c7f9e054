#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tidemill/scheduling/unequal/emulation.hpp"
#include "tidemill/scheduling/unequal/factor_file.hpp"

namespace tidemill::cli {

/// The name under which `bridge status` finds the one daemon that a machine has.
inline constexpr const char* kDaemonName = "tidemill-bridge";

/// Options of `tidemill bridge run`.
struct BridgeRunOptions {
    std::vector<int> processes{};
    std::string group{};
    std::vector<std::string> command{};
    std::string kinds{};
    bridge::Emulation slower{};                   ///< what is known of kinds by hand
    std::optional<bridge::FactorFile> factors{};  ///< and from runs before
    std::string remember{};
    std::string counters = "auto";
    double interval_s = 0.1;
    std::optional<double> fair{};
    std::optional<double> seconds{};
    bool dry_run = false;
    bool verbose = false;
    std::string journal{};
    std::string metrics{};
    std::string name = kDaemonName;
    bool json = false;
};

/// Steers until the user ends it, what it watches has ended, or its time is over; returns an exit status.
int run_bridge(const BridgeRunOptions& options);

}  // namespace tidemill::cli
