#include <memory>

#include <fmt/format.h>

#include "tidemill/cli/dvbs2/reception_options.hpp"
#include "tidemill/cli/dvbs2/rx_job.hpp"
#include "tidemill/cli/verbs.hpp"
#include "tidemill/policy/policy.hpp"

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

std::string checked_policy(const std::string& names) {
    policy::make_policy(names, 1);
    return names;
}

void add_outputs(Verb& verb, RxOutputOptions& options) {
    verb.option("-o,--output", options.packets,
                "Transport stream to write; - for standard output, udp://host:port for datagrams")
        .is(Kind::output_place);
    verb.option("--bbframes", options.bbframes, "The same for the BBFRAMEs, one behind the other")
        .is(Kind::output_place);
    verb.option("--generic", options.generic, "The same for what generic streams carry")
        .is(Kind::output_place);
    verb.option("--isi", options.isi,
                "Input stream, 0 to 255, or all, each into a file or port of its own (default: the first)");
    verb.choice("--damaged", options.damaged, {"drop", "mark"}, "What becomes of damaged packets");
    verb.option("--udp-rate", options.udp_mbps, "Mb/s at which datagrams leave")
        .in(above(0))
        .shows("by the programme clock");
    verb.flag("--unpaced", options.paced, "Datagrams leave as they come", false).excludes("--udp-rate");
}

void add_execution(Verb& verb, RxOptions& options) {
    verb.option("--cores", options.cores, "Cores to use, e.g. big=2 (default: all)");
    verb.option("--schedule", options.schedule, "Schedule file to run by, instead of profiling")
        .is(Kind::input_file)
        .excludes("--cores");
    verb.choice("--executor", options.executor, {"pipeline", "sequence", "dynamic"},
                "Pipeline; sequence: one thread, no schedule; dynamic: scheduled while it runs");
    verb.parsed("--policy", options.policy, checked_policy, "With dynamic: which ready task runs first")
        .shows(options.policy);
    verb.option("--profile-seconds", options.profile_s, "How long to profile each kind of core")
        .in(between(0.01, 60.0));
    add_adapt_options(verb, options.adapt);
}

void add_rx(Verb& dvbs2) {
    auto options = std::make_shared<RxOptions>();
    Verb& verb = dvbs2.verb("rx", "Receive a recording and write its transport stream");
    verb.footer("Example: tidemill dvbs2 rx data/demo.sigmf-meta -o video.ts");
    verb.heading("The signal");
    add_reception_options(verb, options->reception);
    verb.heading("What comes out");
    add_outputs(verb, options->outputs);
    verb.option("--status", options->status, "File for a line of JSON each second; - for standard output")
        .is(Kind::output_place);
    verb.flag("--json", options->json, "One JSON object on standard output");
    verb.heading("How it is run");
    add_execution(verb, *options);
    verb.heading("Looks inside");
    add_insight_options(verb, options->insight);
    verb.option("--energy-meter", options->energy_meter,
                "auto, none, powercap, perf, battery, hwmon:CHIP/LABEL, file:PATH or command:TEXT");
    verb.does([options] { return run_rx(*options); });
}

}  // namespace

void add_dvbs2(Verb& program) {
    Verb& dvbs2 = program.verb("dvbs2", "The DVB-S2 transceiver");
    dvbs2.footer("Example: tidemill dvbs2 rx data/demo.sigmf-meta -o video.ts");
    add_dvbs2_tx(dvbs2);
    add_dvbs2_channel(dvbs2);
    add_dvbs2_ber(dvbs2);
    add_rx(dvbs2);
}

}  // namespace tidemill::cli
