#include "tidemill/scheduling/model/sim_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/base/plural.hpp"

namespace tidemill {

namespace {

std::string owner_line(const SimOwnerReport& owner, std::uint64_t frames) {
    std::vector<std::size_t> numbers;
    for (const std::size_t stage : owner.stages) numbers.push_back(stage + 1);
    return fmt::format("{} has stage{} {}: {:.2f} us a frame, occupied {:.1f} %\n", owner.name,
                       plural(numbers.size()), fmt::join(numbers, ", "),
                       owner.work_us / static_cast<double>(frames), 100 * owner.occupancy);
}

}  // namespace

std::string to_table(const SimReport& report) {
    std::string table = fmt::format("{:>5}  {:>7}  {:<8}  {:>12}  {:>9}\n", "stage", "threads", "kind",
                                    "us/frame", "occupied");
    for (std::size_t s = 0; s < report.stages.size(); ++s) {
        const SimStageReport& stage = report.stages[s];
        table += fmt::format("{:>5}  {:>7}  {:<8}  {:>12.2f}  {:>8.1f}%\n", s + 1, stage.threads, stage.kind,
                             stage.work_us / static_cast<double>(stage.frames), 100 * stage.occupancy);
    }
    for (const SimOwnerReport& owner : report.owners) table += owner_line(owner, report.frames);
    table += fmt::format("period {:.2f} us, {} frames in {:.1f} ms with {} token{}\n", report.period_us,
                         report.frames, report.elapsed_us / 1000, report.tokens, plural(report.tokens));
    const SimLatency& latency = report.latency;
    table += fmt::format("latency mean {:.2f} us, median {:.2f}, 95 % {:.2f}, 99 % {:.2f}, most {:.2f}\n",
                         latency.mean_us, latency.median_us, latency.p95_us, latency.p99_us, latency.most_us);
    if (report.energy_j > 0) {
        table += fmt::format("power {:.3f} W, energy {:.3f} mJ per execution\n", report.mean_w,
                             report.mj_per_frame);
    }
    return table;
}

}  // namespace tidemill
