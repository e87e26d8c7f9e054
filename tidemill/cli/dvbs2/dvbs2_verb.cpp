#include <memory>

#include <fmt/format.h>

#include "tidemill/cli/command.hpp"
#include "tidemill/cli/dvbs2/reception_options.hpp"
#include "tidemill/cli/dvbs2/rx_job.hpp"
#include "tidemill/policy/policy.hpp"
#include "tidemill/policy/policy_error.hpp"

namespace tidemill::cli {

namespace {

int run_rx(const RxOptions& options) {
    const RxOutcome outcome = receive(options);
    // The stream itself may be on standard output.
    const RxOutputOptions& outputs = options.outputs;
    const bool taken = outputs.packets == "-" || outputs.bbframes == "-" || outputs.generic == "-";
    std::FILE* const results = taken ? stderr : stdout;
    if (options.json) fmt::print(results, "{}\n", report_json(outcome));
    if (!outcome.received()) throw JobFailed(failure_text(outcome));
    if (!options.json) fmt::print(results, "{}", report_text(outcome));
    return kDone;
}

std::string check_policy(const std::string& names) {
    try {
        policy::make_policy(names, 1);
        return {};
    } catch (const policy::PolicyError& error) {
        return error.what();
    }
}

void add_outputs(CLI::App& verb, RxOutputOptions& options) {
    verb.add_option("-o,--output", options.packets,
                    "Transport stream to write; - for standard output, udp://host:port for datagrams");
    verb.add_option("--bbframes", options.bbframes, "The same for the BBFRAMEs, one behind the other");
    verb.add_option("--generic", options.generic, "The same for what generic streams carry");
    verb.add_option(
        "--isi", options.isi,
        "Input stream, 0 to 255, or all, each into a file or port of its own (default: the first)");
    verb.add_option("--damaged", options.damaged, "What becomes of damaged packets: drop or mark")
        ->check(CLI::IsMember({"drop", "mark"}))
        ->capture_default_str();
    auto* rate = verb.add_option("--udp-rate", options.udp_mbps,
                                 "Mb/s at which datagrams leave (default: by the programme clock)")
                     ->check(CLI::PositiveNumber);
    verb.add_flag("!--unpaced", options.paced, "Datagrams leave as they come")->excludes(rate);
}

void add_execution(CLI::App& verb, RxOptions& options) {
    auto* cores = verb.add_option("--cores", options.cores, "Cores to use, e.g. big=2 (default: all)");
    verb.add_option("--schedule", options.schedule, "Schedule file to run by, instead of profiling")
        ->excludes(cores);
    verb.add_option("--executor", options.executor,
                    "pipeline; sequence: one thread, no schedule; dynamic: scheduled while it runs")
        ->check(CLI::IsMember({"pipeline", "sequence", "dynamic"}))
        ->capture_default_str();
    verb.add_option("--policy", options.policy, "With dynamic: which ready task runs first")
        ->check(CLI::Validator(check_policy, "POLICY"))
        ->capture_default_str();
    verb.add_option("--profile-seconds", options.profile_s, "How long to profile each kind of core")
        ->check(CLI::Range(0.01, 60.0))
        ->capture_default_str();
    add_adapt_options(verb, options.adapt);
}

void add_rx(CLI::App& dvbs2, Command& chosen) {
    auto options = std::make_shared<RxOptions>();
    CLI::App* verb = dvbs2.add_subcommand("rx", "Receive a recording and write its transport stream");
    verb->footer("Example: tidemill dvbs2 rx data/demo.sigmf-meta -o video.ts");
    under_heading(*verb, "The signal", [&] { add_reception_options(*verb, options->reception); });
    under_heading(*verb, "What comes out", [&] { add_outputs(*verb, options->outputs); });
    under_heading(*verb, "How it is run", [&] { add_execution(*verb, *options); });
    under_heading(*verb, "Looks inside", [&] {
        add_insight_options(*verb, options->insight);
        verb->add_option("--energy-meter", options->energy_meter,
                         "auto, none, powercap, perf, battery, hwmon:CHIP/LABEL, file:PATH or command:TEXT")
            ->capture_default_str();
    });
    verb->add_option("--status", options->status,
                     "File for a line of JSON each second; - for standard output");
    verb->add_flag("--json", options->json, "One JSON object on standard output");
    verb->callback([options, &chosen] { chosen = [options] { return run_rx(*options); }; });
}

}  // namespace

void add_dvbs2(CLI::App& program, Command& chosen) {
    CLI::App* dvbs2 = program.add_subcommand("dvbs2", "The DVB-S2 transceiver");
    dvbs2->require_subcommand(1);
    dvbs2->footer("Example: tidemill dvbs2 rx data/demo.sigmf-meta -o video.ts");
    add_dvbs2_tx(*dvbs2, chosen);
    add_dvbs2_channel(*dvbs2, chosen);
    add_dvbs2_ber(*dvbs2, chosen);
    add_rx(*dvbs2, chosen);
}

}  // namespace tidemill::cli
