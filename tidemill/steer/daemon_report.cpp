#include <algorithm>
#include <cmath>

#include "tidemill/steer/daemon.hpp"

namespace tidemill::steer {

namespace {

constexpr std::size_t kMostReported = 200;

}  // namespace

std::vector<bridge::KnownTask> Daemon::learned() const {
    return learning_ ? learning_->known(kinds_.names()) : std::vector<bridge::KnownTask>();
}

Report Daemon::report() const {
    Report report{.dry_run = options_.dry_run,
                  .up_s = system_.now_s() - started_s_,
                  .processor_s = system_.processor_s() - started_processor_s_,
                  .processes = roster_.processes(),
                  .threads = roster_.threads().size(),
                  .by_standing = std::vector<std::size_t>(static_cast<std::size_t>(Standing::refused) + 1),
                  .counts = counts_,
                  .shortage = shortage(),
                  .recent = {recent_.begin(), recent_.end()}};
    for (std::size_t kind = 0; kind < kinds_.count(); ++kind)
        report.kinds.push_back({kinds_.name(kind), kinds_.cores()[kind].cores});
    for (const RosterThread* const thread : roster_.threads()) {
        ++report.by_standing[static_cast<std::size_t>(thread->standing)];
        if (thread->standing == Standing::confined) ++report.kinds[thread->kind].confined;
    }
    add_active(report);
    return report;
}

std::string Daemon::shortage() const {
    const std::string of_system = system_.shortage();
    return of_system.empty() && learning_ ? learning_->complaint() : of_system;
}

void Daemon::add_active(Report& report) const {
    const std::vector<Speed> now = speeds(snapshot_);
    double sum_of_logarithms = 0;
    for (std::size_t i = 0; i < active_.size(); ++i) {
        const RosterThread& thread = *active_[i];
        const double over_alone = now[i].alone > 0 && now[i].now > 0 ? now[i].now / now[i].alone : 1;
        sum_of_logarithms += std::log(over_alone);
        report.worst_over_alone = i == 0 ? over_alone : std::min(report.worst_over_alone, over_alone);
        report.active.push_back({thread.process, thread.number, thread.program, thread.standing,
                                 kinds_.name(thread.kind), snapshot_.threads[i].demand, thread.facts.weight(),
                                 snapshot_.threads[i].factors, over_alone});
    }
    if (!active_.empty())
        report.mean_over_alone = std::exp(sum_of_logarithms / static_cast<double>(active_.size()));
    std::ranges::stable_sort(report.active, std::greater(), &ThreadReport::demand);
    report.active.resize(std::min(report.active.size(), kMostReported));
}

}  // namespace tidemill::steer
