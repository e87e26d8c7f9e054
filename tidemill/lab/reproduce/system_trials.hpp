#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tidemill/lab/reproduce/reproduction.hpp"
#include "tidemill/lab/reproduce/verdict.hpp"
#include "tidemill/lab/sim/os/published_programs.hpp"
#include "tidemill/lab/sim/os/system_study.hpp"
#include "tidemill/scheduling/unequal/sample.hpp"

namespace tidemill::cli {

// The published board, where 4.24 is the clocks' ratio times what the big core does more in a cycle.
inline constexpr os::Ratios kArmRatios{.least = 1.3, .most = 4.24};
inline constexpr double kBigArm_ghz = 1.608;
inline constexpr double kLittleArm_ghz = 0.72;

/// Cortex-A15 and A7 at the published clocks; `ratios` say how much slower the little one is.
os::Machine arm_cores(std::size_t big, std::size_t little, const os::Ratios& ratios = kArmRatios);

/// The published workload on it, one by one as the seed draws them.
std::vector<os::Program> mibench(const ReproduceOptions& options, const os::Ratios& ratios = kArmRatios);

/// Published percentage for a program, or for something else; nothing where the paper has none.
Cell published_percent(std::string_view figure, std::string_view of);

/// Simulated systems on one machine with the same programs.
class SystemTrials {
  public:
    SystemTrials(os::Machine machine, std::vector<os::Program> programs, const ReproduceOptions& options)
        : machine_(std::move(machine)), programs_(std::move(programs)), options_(options) {}

    const os::Machine& machine() const { return machine_; }
    const std::vector<os::Program>& programs() const { return programs_; }

    os::Measured without(std::string_view scheduler) const;
    /// The control: the same once more, with other seeds.
    os::Measured again(std::string_view scheduler) const;
    os::Measured with(std::string_view scheduler, bridge::Model model = bridge::time_ratio,
                      bool exchanges = true) const;

  private:
    os::Measured measured(os::Experiment experiment, std::uint64_t which) const;

    os::Machine machine_;
    std::vector<os::Program> programs_;
    const ReproduceOptions& options_;
};

/// A row for each system: what it gains over the one that the table began with.
class GainTable {
  public:
    /// Table that begins with the baseline, for which there is only what needs no other.
    GainTable(std::string title, const std::string& baseline, os::Measured before);

    void add(const std::string& system, const os::Measured& after, const Cell& published = {});
    void note(std::string text) { table_.notes.push_back(std::move(text)); }
    /// With whether gains reproduce.
    ResultTable table() const;
    /// Without.
    const ResultTable& rows() const { return table_; }

  private:
    os::Measured before_;
    ResultTable table_;
};

inline constexpr const char* kGainRule =
    "a gain has the sign of the published one, and is larger than that of the same again; cannot tell where "
    "it "
    "is not, or nothing was published.";

/// In percent, beside what a system gains by chance.
Verdict gain_reproduces(const Cell& gain, const Cell& published, double control);

/// Meaning of the columns of a GainTable.
inline constexpr const char* kGainColumns =
    "gain: geometric mean over programs of their mean turnarounds, before / after; +- is its standard "
    "deviation from twelve runs to the next. paper's: mean over programs and runs of the ratios of single "
    "runs. least: the program that gains least. less: how much faster the last program ends. unfairness: "
    "largest slowdown / smallest; slowdown: the "
    "largest, against running alone on a big core.";

}  // namespace tidemill::cli
