#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tidemill/cli/command.hpp"
#include "tidemill/cli/dvbs2/tx_job.hpp"
#include "tidemill/io/ts_packet.hpp"

namespace tidemill::cli {

namespace {

nlohmann::ordered_json json_of(const TxOptions& options, const TxOutcome& sent) {
    return {{"recording", options.output},
            {"packets", sent.bytes / io::kTsPacketBytes},
            {"bytes", sent.bytes},
            {"bytes_left_out", sent.bytes_left_out},
            {"frames", sent.frames},
            {"dummy_frames", sent.dummy_frames},
            {"null_packets", sent.null_packets},
            {"null_packets_deleted", sent.null_packets_deleted},
            {"samples", sent.samples},
            {"duration_s", sent.duration_s},
            {"samples_limited", sent.limited_samples}};
}

int run_tx(const TxOptions& options) {
    const TxOutcome sent = transmit(options);
    // The signal itself may be on standard output.
    std::FILE* const results = options.output == "-" ? stderr : stdout;
    if (options.json) {
        fmt::print(results, "{}\n", json_of(options, sent).dump(2));
    } else {
        const std::string deleted =
            options.delete_nulls ? fmt::format(", {} null packets deleted", sent.null_packets_deleted) : "";
        fmt::print(
            results,
            "sent {} bytes ({} left out{}), {} null packets and {} dummy frames in {} frames: {} samples, "
            "{:.3f} s, {} of them limited, in {}\n",
            sent.bytes, sent.bytes_left_out, deleted, sent.null_packets, sent.dummy_frames, sent.frames,
            sent.samples, sent.duration_s, sent.limited_samples, options.output);
    }
    return kDone;
}

void add_inputs(CLI::App& verb, TxOptions& options) {
    auto* input =
        verb.add_option("packets", options.input,
                        "Transport stream to send: a file, - for standard input, udp://host:port to "
                        "listen at");
    auto* streams = verb.add_option("--stream", options.streams,
                                    "NUMBER=INPUT: one of several input streams; give it for each")
                        ->excludes(input);
    auto* random =
        verb.add_option("--random", options.random, "Send so many packets with random payload instead")
            ->check(CLI::PositiveNumber)
            ->excludes(input)
            ->excludes(streams);
    verb.add_option("--repeat", options.repeat, "Send the file so many times")
        ->check(CLI::PositiveNumber)
        ->excludes(random)
        ->capture_default_str();
    verb.add_option("--seed", options.seed, "Seed of the random packets")->capture_default_str();
    verb.add_option("--input-rate", options.input_rate_mbps,
                    "Mb/s at which an input arrives while the signal lasts (default: as the signal needs it)")
        ->check(CLI::PositiveNumber);
    verb.add_option("--idle", options.idle,
                    "What is sent while data are missing: null packets or dummy frames")
        ->check(CLI::IsMember({"null", "dummy"}))
        ->capture_default_str();
    verb.add_option("--generic", options.generic_bytes,
                    "Generic streams: bytes of a packet with its sync byte, or 0 for continuous ones")
        ->check(CLI::Range(0, 8191));
    verb.add_option("--sync-byte", options.sync_byte, "Sync byte of generic packets")
        ->check(CLI::Range(0, 255))
        ->capture_default_str();
    verb.add_flag("--npd", options.delete_nulls,
                  "Null-packet deletion: count null packets instead of sending them; dummy frames fill the "
                  "signal");
    verb.add_option("--issy", options.issy,
                    "Behind each packet the symbol at which it came: short (15 bits) or long (22 bits)")
        ->check(CLI::IsMember({"none", "short", "long"}))
        ->capture_default_str();
    verb.add_option("--seconds", options.most_seconds, "End the signal after so many seconds")
        ->check(CLI::PositiveNumber);
}

void add_signal_options(CLI::App& verb, TxOptions& options) {
    auto* modcod =
        verb.add_option("--modcod", options.modcod, "Modulation and code rate")->capture_default_str();
    verb.add_option(
            "--plan", options.plan,
            "MODCODs that change from frame to frame, over and over: \"QPSK 1/2 short x3, 8PSK 3/4 isi 7, "
            "dummy\"")
        ->excludes(modcod);
    verb.add_option("--frame", options.frame, "normal or short")
        ->check(CLI::IsMember({"normal", "short"}))
        ->capture_default_str();
    verb.add_flag("--pilots", options.pilots, "Send pilots");
    verb.add_option("--rolloff", options.rolloff, "0.35, 0.25 or 0.20")->capture_default_str();
    verb.add_option("--gold", options.gold_code, "Gold code of the physical-layer scrambling")
        ->capture_default_str();
    verb.add_option("--samples-per-symbol", options.samples_per_symbol,
                    "Whole number; 1 for the symbols without a pulse")
        ->capture_default_str();
    verb.add_option("--symbol-rate", options.symbol_rate_hz, "Symbols per second")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
}

void add_outputs(CLI::App& verb, TxOptions& options) {
    verb.add_option("-o,--output", options.output,
                    "SigMF recording, raw samples by the extension, or - for raw samples on standard output")
        ->required();
    verb.add_option("--packets-output", options.packets_output, "Also write what was taken from the inputs");
    verb.add_option("--format", options.format, "cf32, cf64, ci16, ci8 or cu8, with _be for big endian")
        ->capture_default_str();
    verb.add_option("--level", options.level_dbfs, "Root mean square in dB below full scale")
        ->check(CLI::Range(-60.0, 0.0))
        ->capture_default_str();
    verb.add_flag("--json", options.json, "One JSON object on standard output");
}

}  // namespace

void add_dvbs2_tx(CLI::App& dvbs2, Command& chosen) {
    auto options = std::make_shared<TxOptions>();
    CLI::App* verb = dvbs2.add_subcommand("tx", "Send streams into a recording or to standard output");
    verb->footer(
        "Example: tidemill dvbs2 tx video.ts -o clean.sigmf-meta --modcod \"QPSK 8/9\" --frame short "
        "--pilots");
    add_inputs(*verb, *options);
    add_signal_options(*verb, *options);
    add_outputs(*verb, *options);
    verb->callback([options, &chosen] { chosen = [options] { return run_tx(*options); }; });
}

}  // namespace tidemill::cli
