#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "tidemill/machine/internal/core_pmus.hpp"
#include "tidemill/machine/internal/counter_sources.hpp"
#include "tidemill/machine/internal/energy_sensor.hpp"
#include "tidemill/machine/internal/perf_event.hpp"
#include "tidemill/machine/platform_error.hpp"

namespace tidemill::internal {

namespace {

using OpenEvent = std::function<int(const CounterEvent& event)>;

int open_counter(const CounterEvent& event) {
    perf_event_attr attributes{};
    attributes.size = sizeof(attributes);
    attributes.type = event.type;
    attributes.config = event.config;
    attributes.exclude_kernel = 1;  // which most systems grant everybody for their own threads
    attributes.exclude_hv = 1;
    attributes.read_format =
        PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return static_cast<int>(
        syscall(SYS_perf_event_open, &attributes, event.tid, -1, event.group, PERF_FLAG_FD_CLOEXEC));
}

PlatformError denied(const CounterSystem& system, int error) {
    std::string level = "unknown";
    try {
        level = read_line(system.proc_root + "/sys/kernel/perf_event_paranoid");
    } catch (const PlatformError&) {
        // a system without that file has its own rules
    }
    return PlatformError(
        fmt::format("{} (kernel.perf_event_paranoid is {}: own threads need 2 or less, others' "
                    "root or CAP_PERFMON)",
                    std::strerror(error), level));
}

PlatformError why_not(const CounterSystem& system, const std::string& pmu, int error) {
    if (error == EACCES || error == EPERM) return denied(system, error);
    if (error == EMFILE || error == ENFILE)
        return PlatformError(
            fmt::format("{}: raise the limit (ulimit -n); a thread needs up to {} files for each core type",
                        std::strerror(error), kCounts.size()));
    return PlatformError(fmt::format("{}: {}", pmu, std::strerror(error)));
}

/// The events of one thread on one core type, counted together or not at all.
class Group {
  public:
    Group(const CounterSystem& system, const OpenEvent& open, const CorePmu& pmu, int tid) : pmu_(pmu.name) {
        for (std::size_t count = 0; count < kCounts.size(); ++count) {
            if (!pmu.events[count]) continue;
            const int leader = files_.empty() ? -1 : files_.front()->number();
            const int number = open({pmu.type, *pmu.events[count], tid, leader});
            if (number >= 0) {
                files_.push_back(std::make_unique<Descriptor>(number));
                counted_.push_back(kCounts[count]);
            } else if (leader < 0 || errno == EMFILE || errno == ENFILE) {
                throw why_not(system, pmu_, errno);  // what cannot be counted beside others is absent
            }
        }
        if (files_.empty()) throw PlatformError(fmt::format("{}: knows none of the events", pmu_));
    }

    void look(CounterReading& reading) const {
        constexpr std::size_t kTimes = 3;  // the number of events, time enabled, time running
        std::array<std::uint64_t, kTimes + kCounts.size()> words{};
        const std::size_t wanted = (kTimes + counted_.size()) * sizeof(words[0]);
        const ssize_t got = ::read(files_.front()->number(), words.data(), wanted);
        if (std::cmp_not_equal(got, wanted) || words[0] != counted_.size())
            throw PlatformError(fmt::format("{}: gives no counts", pmu_));
        reading.enabled_ns = std::max(reading.enabled_ns, static_cast<double>(words[1]));
        CoreTypeCounts& counts = reading.on.emplace_back(CoreTypeCounts{pmu_, static_cast<double>(words[2])});
        for (std::size_t i = 0; i < counted_.size(); ++i)
            counts.*counted_[i] = static_cast<double>(words[kTimes + i]);
    }

  private:
    std::string pmu_;
    std::vector<std::unique_ptr<Descriptor>> files_;
    std::vector<std::optional<double> CoreTypeCounts::*> counted_;  // by each file
};

class PerfThread final : public ThreadCounters {
  public:
    PerfThread(const CounterSystem& system, const OpenEvent& open, const std::vector<CorePmu>& pmus,
               int tid) {
        groups_.reserve(pmus.size());
        for (const CorePmu& pmu : pmus) groups_.emplace_back(system, open, pmu, tid);
    }

    CounterReading read() override {
        CounterReading reading;
        for (const Group& group : groups_) group.look(reading);
        return reading;
    }

  private:
    std::vector<Group> groups_;
};

class PerfCounters final : public Counters {
  public:
    explicit PerfCounters(const CounterSystem& system)
        : system_(system),
          open_(system.open_perf ? system.open_perf : open_counter),
          pmus_(core_pmus(system.sys_root)) {
        if (pmus_.empty())
            throw PlatformError(
                fmt::format("no counters of cores in {}/bus/event_source/devices: a virtual "
                            "machine may have none",
                            system.sys_root));
        for (const CorePmu& pmu : pmus_) name_ += (name_.empty() ? "" : ", ") + pmu.name;
        of_thread(0);
    }

    const std::string& name() const override { return name_; }
    std::unique_ptr<ThreadCounters> of_thread(int tid) override {
        return std::make_unique<PerfThread>(system_, open_, pmus_, tid);
    }

  private:
    CounterSystem system_;
    OpenEvent open_;
    std::vector<CorePmu> pmus_;
    std::string name_;
};

}  // namespace

std::unique_ptr<Counters> perf_counters(const CounterSystem& system) {
    return std::make_unique<PerfCounters>(system);
}

}  // namespace tidemill::internal
