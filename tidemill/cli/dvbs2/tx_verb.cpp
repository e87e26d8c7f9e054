#include <cmath>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tidemill/cli/command.hpp"
#include "tidemill/cli/dvbs2/modcod_name.hpp"
#include "tidemill/cli/dvbs2/packet_source.hpp"
#include "tidemill/cli/dvbs2/sample_format_name.hpp"
#include "tidemill/cli/output.hpp"
#include "tidemill/dvbs2/transmitter.hpp"
#include "tidemill/io/recording_writer.hpp"
#include "tidemill/io/ts_file.hpp"
#include "tidemill/io/ts_writer.hpp"

namespace tidemill::cli {

namespace {

struct Options {
    std::string packets;
    std::uint64_t random = 0;
    std::uint64_t repeat = 1;
    std::uint64_t seed = 1;
    std::string output;
    std::string packets_output;
    std::string modcod = "QPSK 3/4";
    std::string frame = "normal";
    bool pilots = false;
    double rolloff = 0.20;
    int gold_code = 0;
    int samples_per_symbol = 2;
    double symbol_rate_hz = 1e6;
    std::string format = "ci8";
    double level_dbfs = -12;
    bool json = false;
};

/// What was sent.
struct Sent {
    std::uint64_t packets = 0;
    std::uint64_t frames = 0;
    std::uint64_t samples = 0;
    std::uint64_t limited_samples = 0;
    double duration_s = 0;
};

dvbs2::Transmitter transmitter_of(const Options& options) {
    const dvbs2::Pls pls{modcod_of(options.modcod).number, frame_size_of(options.frame), options.pilots};
    try {
        return dvbs2::Transmitter({pls, options.gold_code, options.rolloff, options.samples_per_symbol});
    } catch (const std::invalid_argument& error) {
        throw WrongUsage(error.what());
    }
}

PacketSource source_of(const Options& options) {
    if (options.random > 0) return PacketSource::random(options.random, options.seed);
    if (options.packets.empty())
        throw WrongUsage("nothing to send: name a transport stream, or give --random N");
    return {io::read_ts_file(options.packets).bytes, options.repeat};
}

io::RecordingWriter writer_of(const Options& options) {
    io::SigmfMetadata description;
    description.format = sample_format_of(options.format);
    description.sample_rate_hz = options.symbol_rate_hz * options.samples_per_symbol;
    description.description =
        fmt::format("DVB-S2, {}, {} frames, sent by Tidemill", options.modcod, options.frame);
    const auto gain = static_cast<float>(std::pow(10.0, options.level_dbfs / 20.0));
    return writing([&] { return io::RecordingWriter(options.output, description, gain); });
}

Sent transmit(const Options& options) {
    dvbs2::Transmitter transmitter = transmitter_of(options);
    PacketSource source = source_of(options);
    if (!options.packets.empty()) refuse_overwriting(options.output, options.packets);
    io::RecordingWriter writer = writer_of(options);
    std::optional<io::TsWriter> copy;
    if (!options.packets_output.empty()) writing([&] { copy.emplace(options.packets_output); });
    Sent sent;
    std::vector<dsp::Iq> samples;
    for (auto packets = source.next(); !packets.empty(); packets = source.next()) {
        transmitter.transmit(packets, samples);
        writing([&] {
            writer.write(samples);
            if (copy) copy->write(packets);
        });
        samples.clear();
        sent.packets += packets.size() / io::kTsPacketBytes;
    }
    transmitter.finish(samples);
    writing([&] {
        writer.write(samples);
        writer.close();
        if (copy) copy->close();
    });
    sent.frames = transmitter.frames();
    sent.samples = writer.samples();
    sent.limited_samples = writer.limited_samples();
    sent.duration_s =
        static_cast<double>(sent.samples) / (options.symbol_rate_hz * options.samples_per_symbol);
    return sent;
}

int run_tx(const Options& options) {
    const Sent sent = transmit(options);
    if (options.json) {
        const nlohmann::ordered_json json{
            {"recording", options.output},   {"packets", sent.packets},
            {"frames", sent.frames},         {"samples", sent.samples},
            {"duration_s", sent.duration_s}, {"samples_limited", sent.limited_samples}};
        fmt::print("{}\n", json.dump(2));
    } else {
        fmt::print("sent {} packets in {} frames: {} samples, {:.3f} s, {} of them limited, in {}\n",
                   sent.packets, sent.frames, sent.samples, sent.duration_s, sent.limited_samples,
                   options.output);
    }
    return kDone;
}

void add_signal_options(CLI::App& verb, Options& options) {
    verb.add_option("--modcod", options.modcod, "Modulation and code rate")->capture_default_str();
    verb.add_option("--frame", options.frame, "normal or short")
        ->check(CLI::IsMember({"normal", "short"}))
        ->capture_default_str();
    verb.add_flag("--pilots", options.pilots, "Send pilots");
    verb.add_option("--rolloff", options.rolloff, "0.35, 0.25 or 0.20")->capture_default_str();
    verb.add_option("--gold", options.gold_code, "Gold code of the physical-layer scrambling")
        ->capture_default_str();
    verb.add_option("--samples-per-symbol", options.samples_per_symbol, "Whole number from 2 on")
        ->capture_default_str();
    verb.add_option("--symbol-rate", options.symbol_rate_hz, "Symbols per second")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    verb.add_option("--format", options.format, "cf32, ci16, ci8 or cu8")->capture_default_str();
    verb.add_option("--level", options.level_dbfs, "Root mean square in dB below full scale")
        ->check(CLI::Range(-60.0, 0.0))
        ->capture_default_str();
}

}  // namespace

void add_dvbs2_tx(CLI::App& dvbs2, Command& chosen) {
    auto options = std::make_shared<Options>();
    CLI::App* verb = dvbs2.add_subcommand("tx", "Send a transport stream into a recording");
    verb->footer(
        "Example: tidemill dvbs2 tx video.ts -o clean.sigmf-meta --modcod \"QPSK 8/9\" --frame short "
        "--pilots");
    auto* file = verb->add_option("packets", options->packets, "Transport stream to send");
    auto* random =
        verb->add_option("--random", options->random, "Send so many packets with random payload instead")
            ->check(CLI::PositiveNumber)
            ->excludes(file);
    verb->add_option("--repeat", options->repeat, "Send the transport stream so many times")
        ->check(CLI::PositiveNumber)
        ->excludes(random)
        ->capture_default_str();
    verb->add_option("--seed", options->seed, "Seed of the random packets")->capture_default_str();
    verb->add_option("-o,--output", options->output, "SigMF recording, or raw samples by the extension")
        ->required();
    verb->add_option("--packets-output", options->packets_output, "Also write the packets sent");
    add_signal_options(*verb, *options);
    verb->add_flag("--json", options->json, "One JSON object on standard output");
    verb->callback([options, &chosen] { chosen = [options] { return run_tx(*options); }; });
}

}  // namespace tidemill::cli
