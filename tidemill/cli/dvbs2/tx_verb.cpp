#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "tidemill/apps/reception/reception_options.hpp"
#include "tidemill/apps/transmission/tx_job.hpp"
#include "tidemill/apps/transmission/tx_output.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/cli/verbs.hpp"
#include "tidemill/dvbs2/standard/gold_name.hpp"
#include "tidemill/dvbs2/standard/modcod_name.hpp"
#include "tidemill/io/files/hertz_text.hpp"
#include "tidemill/io/recordings/recording.hpp"
#include "tidemill/io/transport/ts_packet.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/options/stored_format.hpp"

namespace tidemill::cli {

namespace {

constexpr double kDayS = 86'400;  // more silence is a slip, and fills a disk

Json json_of(const TxOptions& options, const TxOutcome& sent) {
    const double elapsed_s = sent.run.elapsed_s;
    return {{"recording", options.output.place},
            {"packets", sent.bytes / io::kTsPacketBytes},
            {"bytes", sent.bytes},
            {"bytes_left_out", sent.bytes_left_out},
            {"warnings", sent.remarks},
            {"frames", sent.frames},
            {"dummy_frames", sent.dummy_frames},
            {"null_packets", sent.null_packets},
            {"null_packets_deleted", sent.null_packets_deleted},
            {"bursts", options.signal.burst_frames > 0 ? Json(sent.bursts) : Json()},
            {"samples", sent.samples},
            {"duration_s", sent.duration_s},
            {"samples_limited", sent.limited_samples},
            {"underflows", sent.is_live ? Json(sent.underflows) : Json()},
            {"executor", to_string(sent.executor)},
            {"elapsed_s", elapsed_s},
            {"input_mbps", elapsed_s > 0 ? Json(8e-6 * static_cast<double>(sent.bytes) / elapsed_s) : Json()},
            {"choice", choice_json(sent.account)},
            {"forecast", forecast_json(sent.account)},
            {"run", json_of(sent.run)}};
}

std::string text_of(const TxOptions& options, const TxOutcome& sent) {
    const std::string deleted =
        options.data.delete_nulls ? fmt::format(", {} null packets deleted", sent.null_packets_deleted) : "";
    const std::string underflows = sent.is_live ? fmt::format("{} underflows, ", sent.underflows) : "";
    return fmt::format(
        "sent {} bytes ({} left out{}), {} null packets and {} dummy frames in {} frames: {} samples, "
        "{}, {} of them limited, {}in {}\n",
        sent.bytes, sent.bytes_left_out, deleted, sent.null_packets, sent.dummy_frames, sent.frames,
        sent.samples, io::seconds_text(sent.duration_s), sent.limited_samples, underflows,
        options.output.place);
}

// Where the time went.
std::string stats_of(const TxOutcome& sent) {
    return fmt::format("\n{:.2f} Mb/s of the inputs in {:.2f} s, executor {}\n{}{}\nTasks\n{}\nStages\n{}",
                       8e-6 * static_cast<double>(sent.bytes) / std::max(sent.run.elapsed_s, 1e-9),
                       sent.run.elapsed_s, to_string(sent.executor), account_text(sent.account),
                       best_possible_line(sent.run), task_table(sent.run), stage_table(sent.run));
}

// The reader of the samples takes no higher rate.
void check_rate(const TxSignalOptions& options) {
    const double rate_hz = sample_rate_hz(options);
    if (rate_hz > io::kMostSampleRateHz)
        throw WrongUsage(fmt::format("--symbol-rate {}: that makes {} samples per second, and {} can be",
                                     io::hertz_text(options.symbol_rate_hz), io::hertz_text(rate_hz),
                                     io::hertz_text(io::kMostSampleRateHz)));
}

// So many samples a symbol as the rate says.
void settle_rate(TxSignalOptions& options) {
    if (!options.sample_rate_hz) return check_rate(options);
    constexpr double kMost = 256;
    const double samples = *options.sample_rate_hz / options.symbol_rate_hz;
    if (samples < 1 || samples > kMost || samples != std::round(samples))
        throw WrongUsage(
            fmt::format("--rate {}: give a whole multiple, 1 to {}, of the {} symbols per second",
                        *options.sample_rate_hz, kMost, options.symbol_rate_hz));
    options.samples_per_symbol = static_cast<int>(samples);
}

int run_tx(TxOptions& options) {
    settle_rate(options.signal);
    const TxOutcome sent = transmit(options);
    const std::string text = options.json ? to_text(json_of(options, sent), 2) + "\n"
                                          : text_of(options, sent) + (options.stats ? stats_of(sent) : "");
    for (const std::string& remark : sent.remarks) warn(remark);
    report(text, is_standard_stream(options.output.place));
    return kDone;
}

void add_inputs(Verb& verb, TxDataOptions& options) {
    verb.option("packets", options.input,
                "Transport stream to send, with 188, 192 or 204 bytes a packet: a file, - for standard "
                "input, udp://host:port or rtp://host:port to listen at")
        .is(Kind::input_place);
    verb.option("--stream", options.streams, "NUMBER=INPUT: one of several input streams; give it for each")
        .is(Kind::input_place)
        .excludes("packets");
    verb.option("--random", options.random, "Send so many packets with random payload instead")
        .in(at_least(1))
        .excludes("packets")
        .excludes("--stream")
        .common();
    verb.option("--repeat", options.repeat, "Send the file so many times")
        .in(at_least(1))
        .excludes("--random");
    verb.option("--seed", options.seed, "Seed of the random packets");
    verb.option("--input-rate", options.input_rate_mbps,
                "Mb/s at which an input arrives while the signal lasts")
        .in(above(0))
        .shows("as the signal needs it");
    verb.choice("--idle", options.idle, {{"null", Idle::null_packets}, {"dummy", Idle::dummy_frames}},
                "What is sent while data are missing: null packets or dummy frames");
    verb.option("--generic", options.generic_bytes,
                "Generic streams: bytes of a packet with its sync byte, or 0 for continuous ones")
        .in(between(0, 8191));
    verb.option("--sync-byte", options.sync_byte, "Sync byte of generic packets").in(between(0, 255));
    verb.flag("--npd", options.delete_nulls,
              "Null-packet deletion: count null packets instead of sending them; dummy frames fill the "
              "signal");
    verb.choice("--issy", options.issy_bytes, {{"none", 0}, {"short", 2}, {"long", 3}},
                "Behind each packet the symbol at which it came: short (15 bits) or long (22 bits)");
}

void add_signal_options(Verb& verb, TxSignalOptions& options) {
    verb.option("--duration,--seconds", options.most_seconds, "End the signal after so many seconds")
        .is(Kind::seconds)
        .in(above(0));
    verb.option("--burst", options.burst_frames,
                "Send in bursts of so many frames, each rising out of silence and falling into it")
        .in(at_least(1))
        .needs("--burst-every")
        .shows("all frames in one");
    verb.option("--burst-every", options.burst_every_s,
                "Seconds from the beginning of one burst to that of the next, counted in samples")
        .is(Kind::seconds)
        .in(between(1e-6, kDayS))
        .needs("--burst");
    verb.parsed("--modcod", options.modcod, modcod_number_of, "Modulation and code rate")
        .shows("QPSK 3/4")
        .called("MODCOD")
        .common();
    verb.option(
            "--plan", options.plan,
            "MODCODs that change from frame to frame, over and over: \"QPSK 1/2 short x3, 8PSK 3/4 isi 7, "
            "dummy\"")
        .excludes("--modcod");
    verb.choice("--frame", options.frame, frame_size_words(), "Size of the FECFRAMEs").common();
    verb.flag("--pilots", options.pilots, "Send pilots").common();
    verb.option("--rolloff", options.rolloff, "0.35, 0.25 or 0.20").common();
    verb.parsed("--gold", options.gold_code, parse_gold,
                "Gold code of the physical-layer scrambling, or root:N by its root")
        .shows("0");
    verb.option("--samples-per-symbol", options.samples_per_symbol,
                "Whole number; 1 for the symbols without a pulse")
        .in(between(1, 256))
        .common();
    const Range rates = between(io::kLeastSampleRateHz, io::kMostSampleRateHz);
    verb.option("--symbol-rate", options.symbol_rate_hz, "Symbols per second")
        .in(rates)
        .called("BAUD")
        .common();
    verb.option("--rate,--sample-rate", options.sample_rate_hz,
                "Samples per second, a whole multiple of the symbol rate")
        .in(rates)
        .excludes("--samples-per-symbol")
        .shows("as --samples-per-symbol says")
        .called("HZ")
        .common();
}

void add_outputs(Verb& verb, TxOptions& options) {
    verb.option(
            "-o,--output", options.output.place,
            "SigMF recording, raw samples by the extension, - for raw samples on standard output, "
            "vita49://host:port for packets at the signal's pace, or a radio: driver=NAME with what SoapySDR "
            "finds by that")
        .is(Kind::output_place)
        .networks({"vita49"})
        .required()
        .common();
    verb.option("--packets-output", options.packets_output, "Also write what was taken from the inputs")
        .is(Kind::output_file);
    add_stored_format(verb, options.output.format);
    verb.option("--level", options.output.level_dbfs, "Root mean square of the samples against full scale")
        .in(between(-60.0, 0.0))
        .called("DBFS")
        .common();
    verb.flag("--stats", options.stats, "Times of each task and stage").common();
    verb.flag("--json", options.json, "One JSON object on standard output").common();
}

}  // namespace

void add_dvbs2_tx(Verb& dvbs2) {
    auto options = std::make_shared<TxOptions>();
    Verb& verb = dvbs2.verb("tx", "Send streams into a recording, to standard output or to a radio");
    verb.footer(
        "Example: tidemill dvbs2 tx video.ts -o clean.sigmf-meta --modcod \"QPSK 8/9\" --frame short "
        "--pilots");
    add_inputs(verb, options->data);
    add_signal_options(verb, options->signal);
    add_outputs(verb, *options);
    add_radio_options(verb, options->output.radio);
    add_running_options(verb, options->running, RunEnds::with_its_source);
    verb.does([options] { return run_tx(*options); });
}

}  // namespace tidemill::cli
