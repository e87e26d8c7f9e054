#include "tidemill/cli/rx/rx_job.hpp"

#include <fmt/format.h>

#include "tidemill/cli/kinds_option.hpp"
#include "tidemill/cli/rx/rx_account.hpp"
#include "tidemill/cli/rx/rx_reception.hpp"
#include "tidemill/cli/rx/rx_schedule.hpp"
#include "tidemill/cli/standard_streams.hpp"
#include "tidemill/io/recording_reader.hpp"

namespace tidemill::cli {

namespace {

// Compares a recording that was read to its end with the digest that its metadata claim, which reads all of
// it once more.
void warn_of_digest(RxOutcome& outcome) {
    if (outcome.interrupted || outcome.job.stream) return;
    const std::string disagreement = io::check_digest(outcome.job.recording);
    if (!disagreement.empty()) outcome.job.warnings.push_back(disagreement);
}

void run(const RxOptions& options, RxCarriers& carriers, RxGuard& guard, RxPage& page) {
    const Topology topology = topology_by(options.running.kinds);
    GraphRun run(how_to_run(options, carriers.whole().job.stream != nullptr), topology);
    find_schedule(run, topology, carriers);
    RxReception reception(options, carriers);
    reception.go(run, guard, page);
    reception.close(run, page);
    take_account(run, reception.watched(), reception.receivers(), reception.source(), carriers);
    warn_of_digest(carriers.whole());
}

CarriersOutcome receive_all(RxOptions options) {
    // Before there are threads, and before anything from outside is read.
    std::vector<io::TunDevice> interfaces = open_interfaces(options.outputs.ip);
    RxGuard guard(options.exit_on, !options.running.stop.stop_possible());
    RxPage page(options.page, options.of_all_carriers() ? dvbs2::BandReceiver::kMostCarriers : 1);
    if (!page.url().empty()) tell("look       {}\n", page.url());
    options.reception.opened = [&guard] { guard.samples_came(); };
    RxCarriers carriers(options, std::move(interfaces));
    if (!carriers.empty()) run(options, carriers, guard, page);
    carriers.whole().ended_by = guard.ended_by();
    return carriers.take();
}

}  // namespace

RxOutcome receive(const RxOptions& options) {
    return std::move(receive_all(options).carriers.front().outcome);
}

CarriersOutcome receive_carriers(const RxOptions& options) {
    return receive_all(options);
}

}  // namespace tidemill::cli
