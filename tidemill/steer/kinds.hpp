#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/machine/topology.hpp"
#include "tidemill/steer/cpu_set.hpp"
#include "tidemill/steer/steering.hpp"

namespace tidemill::steer {

/// Cores that are equally fast, each with its PUs, and what is usual for threads there.
struct CpuKind {
    std::string name;
    std::vector<CpuSet> cores;
    double usual_factor = 1;  ///< time there over that on the first kind

    /// All PUs of its cores.
    CpuSet cpus() const;
};

/// A machine's kinds with what is on line of them.
class Kinds {
  public:
    explicit Kinds(std::vector<CpuKind> kinds);

    std::size_t count() const { return kinds_.size(); }
    const std::string& name(std::size_t kind) const { return kinds_[kind].name; }
    const std::vector<std::string>& names() const { return names_; }
    /// All of a kind's PUs, on line or not.
    const CpuSet& cpus(std::size_t kind) const { return cpus_[kind]; }
    /// Cores with a PU on line, and what is usual there.
    const std::vector<KindOfCores>& cores() const { return cores_; }
    /// The kind of a PU; nothing where it is of none.
    std::optional<std::size_t> kind_of(int cpu) const;
    /// How many kinds have PUs in a set.
    std::size_t kinds_in(const CpuSet& set) const;

    void set_online(const CpuSet& online);

  private:
    std::vector<CpuKind> kinds_;
    std::vector<std::string> names_;
    std::vector<CpuSet> cpus_;
    std::vector<KindOfCores> cores_;
    std::vector<std::optional<std::size_t>> kind_of_;  // by PU
};

/// The kinds of a topology. What is usual on one is by the kernel's capacities where all kinds have one, else
/// by the maximum frequencies, else 1.
std::vector<CpuKind> kinds_of(const Topology& topology);

}  // namespace tidemill::steer
