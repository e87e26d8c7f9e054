#include <algorithm>
#include <exception>
#include <memory>

#include <fmt/format.h>

#include "tidemill/apps/reception/carriers_report.hpp"
#include "tidemill/apps/reception/other_reading.hpp"
#include "tidemill/apps/reception/reception_options.hpp"
#include "tidemill/apps/reception/rx_job.hpp"
#include "tidemill/apps/reception/rx_report.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/cli/verbs.hpp"
#include "tidemill/io/recordings/sample_format_name.hpp"
#include "tidemill/options/standard_streams.hpp"

namespace tidemill::cli {

namespace {

std::string outcome_text(const RxOutcome& outcome, bool stats) {
    return stats ? report_text(outcome, true) : summary_text(outcome);
}

// Oddities of the samples may be the reason.
[[noreturn]] void fail_of_nothing(const ReceptionJob& job, const std::string& why, bool warns) {
    if (warns)
        for (const std::string& warning : job.warnings) warn(warning);
    throw JobFailed(why);
}

// Reports one carrier or several, and how `whole`, the run, has ended.
template <class Outcome>
int conclude(const Outcome& outcome, const RxOutcome& whole, const RxReportOptions& options, bool taken) {
    if (options.json) report(report_json(outcome) + "\n", taken);
    if (!outcome.received() && !whole.ended_by && !whole.failure)
        fail_of_nothing(whole.job, failure_text(outcome), !options.json);
    if (!options.json) report(outcome_text(outcome, options.stats), taken);
    if (whole.failure) std::rethrow_exception(whole.failure);
    if (whole.ended_by) throw EndedByPolicy(*whole.ended_by);
    if (const std::string failed = outcome.failed_places(); !failed.empty()) throw JobFailed(failed);
    if (!whole.report_failure.empty()) throw JobFailed(whole.report_failure);
    return kDone;
}

// Refuses outputs that would be lost in silence, or mixed up.
void check_outputs(const RxOptions& options) {
    if (options.report.json && is_standard_stream(options.beside.status) &&
        !options.outputs.takes_standard_output())
        throw WrongUsage("--json and --status -: both would be on standard output; give --status a file");
    check_roll(options.outputs);
}

// Samples in which nothing was found may be meant otherwise. Only what has left no traces is done again.
RxOutcome receive_as_meant(const RxOptions& options) {
    RxOutcome outcome = receive(options);
    const bool is_over = outcome.ended_by || outcome.failure || outcome.interrupted;
    if (is_over || !options.run.checkpoint.file.empty() || outcome.report.totals.frames_good() > 0)
        return outcome;
    const auto reading = find_other_reading(options.reception);
    if (!reading) return outcome;
    if (reading->format) {
        outcome.remarks += fmt::format("as {} there are frames: give --format {}",
                                       cli::name_of(*reading->format), cli::name_of(*reading->format));
        return outcome;
    }
    RxOptions again = options;
    again.reception.skipped_bytes = reading->skipped_bytes;
    RxOutcome meant = receive(again);
    meant.job.warnings.push_back(skipped_text(reading->skipped_bytes));
    return meant;
}

void look_for_slip(const ReceptionOptions& reception, RxOutcome& outcome) {
    if (outcome.ended_by || outcome.failure || outcome.interrupted || outcome.ended_as_asked) return;
    const std::string slip = slip_behind(reception, outcome.job, outcome.report.totals.end_s);
    if (!slip.empty()) outcome.job.warnings.push_back(slip);
}

int run_rx(const RxOptions& options) {
    check_outputs(options);
    // The stream itself may be on standard output.
    const bool taken = options.outputs.takes_standard_output();
    if (options.reception.of_all_carriers()) {
        const CarriersOutcome all = receive_carriers(options);
        return conclude(all, all.together, options.report, taken);
    }
    RxOutcome outcome = receive_as_meant(options);
    look_for_slip(options.reception, outcome);
    return conclude(outcome, outcome, options.report, taken);
}

constexpr int kLastStream = 255;
constexpr std::size_t kLastCarrier = 255;  // that is looked at: a scan rarely numbers more

// Values are read later.
template <class Value>
std::optional<Value> given(const Verb& verb, const char* name, Value (*parse)(const std::string&)) {
    for (const Option& each : verb.options())
        if (each.name() == name && each.is_given()) return parse(each.given.front());
    return std::nullopt;
}

// The places of all carriers, should all be wanted; else the place alone.
std::vector<std::string> places_of_carriers(const Verb& verb, const std::string& place) {
    std::vector<std::string> places{place};
    const auto wanted = given(verb, "--carrier", parse_carrier);
    if (!wanted || wanted->only || is_standard_stream(place)) return places;
    try {
        for (std::size_t carrier = 1; carrier <= kLastCarrier; ++carrier)
            places.push_back(place_of_carrier(place, carrier));
    } catch (const Error&) {
        // There are no more ports, or it is an interface: its opener reports it.
    }
    return places;
}

// The same for streams, of each carrier.
std::vector<std::string> places_of_streams(const Verb& verb, const std::string& place) {
    std::vector<std::string> places = places_of_carriers(verb, place);
    const auto wanted = given(verb, "--isi", parse_isi);
    if (!wanted || !wanted->all || is_standard_stream(place)) return places;
    const std::vector<std::string> of_carriers = places;
    for (const std::string& its_place : of_carriers)
        for (int stream = 0; stream <= kLastStream; ++stream)
            if (const auto of_stream = place_of_stream(its_place, stream)) places.push_back(*of_stream);
    return places;
}

void add_outputs(Verb& verb, RxOutputOptions& options) {
    const std::vector<std::string_view> networks{"udp", "rtp", "tcp-listen"};
    const auto carriers = [&verb](const std::string& place) { return places_of_carriers(verb, place); };
    verb.option("-o,--output", options.packets,
                "Transport stream to write: a file, - for standard output, udp://host:port for datagrams, "
                "rtp://host:port for RTP, tcp-listen://127.0.0.1:port for all clients; give it for "
                "each of several places")
        .is(Kind::output_place)
        .networks(networks)
        .also_writes([&verb](const std::string& place) { return places_of_streams(verb, place); })
        .common();
    verb.option("--bbframes", options.bbframes, "The same for the BBFRAMEs, one behind the other")
        .is(Kind::output_place)
        .networks(networks)
        .also_writes(carriers);
    verb.option("--generic", options.generic, "The same for what generic streams carry")
        .is(Kind::output_place)
        .networks(networks)
        .also_writes(carriers);
    verb.option(
            "--ip-out", options.ip.places,
            "IP packets out of sections (MPE) and generic streams (GSE): a file that tcpdump and Wireshark "
            "read, - for standard output, tun:NAME for a network interface")
        .is(Kind::output_place)
        .networks({"tun"})
        .also_writes(carriers)
        .common();
    verb.parsed("--tun-allow", options.ip.allowed, parse_tun_allow,
                "Networks from and to which packets may pass to an interface: 239.0.0.0/8; give it for each")
        .needs("--ip-out");
    verb.option("--user", options.ip.user, "User whose rights remain once an interface is open")
        .needs("--ip-out")
        .shows("the user of sudo");
    verb.parsed("--mpe-pid", options.ip.mpe_pid, parse_mpe_pid, "The only PID whose sections are read")
        .needs("--ip-out")
        .shows("all that carry such");
    verb.parsed("--isi", options.streams, parse_isi,
                "Input stream, 0 to 255, or all, each into a file or port of its own")
        .shows("the first")
        .called("N")
        .common();
    verb.choice("--damaged", options.damaged,
                {{"drop", dvbs2::DamagedPacket::drop}, {"mark", dvbs2::DamagedPacket::mark}},
                "Treatment of damaged packets");
    verb.option("--udp-rate", options.udp_mbps, "Mb/s at which datagrams leave")
        .in(above(0))
        .shows("by the signal's clock");
    verb.flag("--unpaced", options.paced, "Datagrams leave as they come", false).excludes("--udp-rate");
    verb.parsed("--roll", options.roll, parse_roll,
                "Begin a new file after a duration (1h) or a size (500MB), the hour in its name: "
                "video.20261123T114500Z.ts; give it twice for both");
    verb.choice(
        "--when-full", options.when_full, {{"lose", io::WhenFull::lose}, {"wait", io::WhenFull::wait}},
        "Where a live input brings more than a place takes: lose and count it, or let the input wait");
}

void add_page(Verb& verb, RxPageOptions& options) {
    verb.heading("Page and report");
    verb.option("--page", options.place,
                "Show the reception in the browser: at a free port of this machine, or auto; at a port; at "
                "an address "
                "of this machine, for others to look, too")
        .optional_value("auto")
        .called("PORT")
        .common();
    verb.option("--page-viewers", options.most_viewers, "Most viewers at the same time").in(between(1, 1000));
    verb.option("--page-password-file", options.password_file,
                "File with the viewers' password in its first line; else TIDEMILL_PAGE_PASSWORD")
        .is(Kind::input_file)
        .needs("--page");
    verb.option("--page-host", options.hosts, "Name or address by which the page is asked for from elsewhere")
        .needs("--page");
    verb.flag("--page-control", options.control, "Let viewers on other hosts change something, too");
    verb.option("--page-dir", options.folder,
                "Folder into which viewers save two seconds of samples, twenty times at most")
        .needs("--page");
    verb.option("--unhealthy-after", options.unhealthy_after_s,
                "Without a lock for so long, /healthz says 503")
        .is(Kind::seconds)
        .in(at_least(0));
    verb.option("--report", options.report, "Write a page that shows the whole run, in one file: FILE.html")
        .is(Kind::output_file)
        .common();
}

void add_iq_outputs(Verb& verb, IqOptions& options) {
    verb.option(
            "--iq-out", options.carrier,
            "Keep the carrier's samples, tuned and resampled where that is done, as a SigMF recording with "
            "lock and MODCODs in its annotations")
        .is(Kind::output_file)
        .common();
    Option& around = verb.option("--keep-iq-around-loss", options.around_loss.seconds,
                                 "Keep so many seconds of samples before and after each loss of lock, as "
                                 "loss.20261123T114500Z.sigmf-meta and -data")
                         .is(Kind::seconds)
                         .in(between(0.001, 600));
    around.shows("none");
    verb.parsed("--keep-limit", options.around_loss.most_bytes, parse_keep_limit,
                "Bytes that these may take; the oldest go")
        .needs("--keep-iq-around-loss")
        .shows("2GB");
    verb.option("--keep-folder", options.around_loss.folder, "Where they are kept")
        .needs("--keep-iq-around-loss");
}

}  // namespace

void add_dvbs2_rx(Verb& dvbs2) {
    auto options = std::make_shared<RxOptions>();
    Verb& verb = dvbs2.verb(
        "rx", "Receive a recording, a stream of samples or a radio, and write its transport stream");
    verb.footer(
        "Example: tidemill dvbs2 rx data/demo.sigmf-meta -o video.ts\n"
        "         tidemill dvbs2 rx data/demo.sigmf-meta -o video.ts -o udp://127.0.0.1:5000\n"
        "         tidemill dvbs2 rx pass.sigmf-meta --ip-out packets.pcap");
    verb.heading("Signal");
    add_reception_options(verb, options->reception);
    verb.parsed(
            "--carrier", options->reception.carrier, parse_carrier,
            "Instead of offset and symbol rate: a carrier by its number in a scan, or all, each into a file "
            "or port of its own")
        .excludes("--offset")
        .excludes("--symbol-rate")
        .called("N")
        .common();
    add_radio_options(verb, options->reception.radio);
    verb.heading("Outputs");
    add_outputs(verb, options->outputs);
    add_iq_outputs(verb, options->beside.iq);
    verb.option("--status", options->beside.status,
                "File for a line of JSON each second, its time_s the place in a recording, of a live input "
                "the time since the start; - for standard output")
        .is(Kind::output_place)
        .common();
    verb.parsed("--exit-on", options->exit_on, parse_exit_policy,
                "End, with status 4, once there is no lock for so long, as no-lock:60s; the same for "
                "no-samples:10s, "
                "packets-lost:100 and frames-bad:5")
        .called("EVENT:LIMIT")
        .common();
    verb.option("--journal", options->run.journal,
                "Write down what reaches the run from outside, and at which frames")
        .is(Kind::output_file);
    add_checkpoint_options(verb, options->run.checkpoint);
    verb.flag("--check-digest", options->report.check_digest,
              "Compare a recording's samples with the SHA-512 in its metadata, when all are received");
    verb.flag("--stats", options->report.stats,
              "The whole report, with the times of each task and stage, and the schedule")
        .common();
    verb.flag("--json", options->report.json, "One JSON object on standard output").common();
    add_page(verb, options->beside.page);
    add_running_options(verb, options->run.running);
    verb.heading("Device");
    add_device_options(verb, options->run.device);
    verb.does([options] { return run_rx(*options); });
}

}  // namespace tidemill::cli
