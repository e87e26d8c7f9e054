#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <numbers>

#include <fmt/format.h>

#include "tidemill/apps/outputs/output.hpp"
#include "tidemill/apps/reception/level_fault.hpp"
#include "tidemill/apps/reception/signal_level.hpp"
#include "tidemill/apps/transmission/channel_limits.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/cli/dvbs2/echo_option.hpp"
#include "tidemill/cli/dvbs2/phase_mask_option.hpp"
#include "tidemill/cli/verbs.hpp"
#include "tidemill/dvbs2/channel/channel.hpp"
#include "tidemill/io/recordings/recording_reader.hpp"
#include "tidemill/io/recordings/recording_writer.hpp"
#include "tidemill/options/number_list.hpp"
#include "tidemill/options/standard_streams.hpp"
#include "tidemill/options/stored_format.hpp"

namespace tidemill::cli {

namespace {

struct ChannelOptions {
    std::string recording;
    std::string output;
    double symbol_rate_hz = 0;  // 0: half the sample rate
    double frequency_hz = 0;
    double drift_hz_per_s = 0;
    double clock_drift_ppm_per_s = 0;
    std::vector<std::string> dropouts, tones;
    std::string pulses, steps, fading, sweep, gain_ripple, warm_up, phase_mask;
    bool random_pulses = false;
    std::string iq_offset;
    dvbs2::ChannelConfig channel;
    std::optional<double> sample_rate_hz;     // none: as the recording says
    std::optional<dsp::SampleFormat> format;  // none: by the output's name
    double level_dbfs = -12;
    bool json = false;
};

double sample_rate_hz(const io::Recording& recording) {
    if (!recording.sample_rate_hz) {
        throw WrongUsage("the recording has no sample rate: give --sample-rate");
    }
    return *recording.sample_rate_hz;
}

// Gives all samples of a recording to `use`, block by block.
void read_all(const io::Recording& recording, const std::function<void(std::span<dsp::Iq>)>& use) {
    constexpr std::size_t kBlockSamples = 1 << 16;
    io::RecordingReader reader(recording);
    const std::size_t size = dsp::bytes_per_sample(recording.format);
    std::vector<std::byte> bytes(kBlockSamples * size);
    std::vector<dsp::Iq> samples(kBlockSamples);
    for (std::size_t got = reader.read(bytes); got > 0; got = reader.read(bytes)) {
        const auto block = std::span(samples).first(got / size);
        dsp::convert_samples(recording.format, std::span(bytes).first(got), block);
        use(block);
    }
}

double signal_power(const io::Recording& recording) {
    SignalLevel level;
    read_all(recording, [&](std::span<dsp::Iq> samples) { level.take(samples); });
    const double power = level.power();
    if (power > 0) return power;
    const std::string fault = level_fault(recording);
    throw JobFailed(fault.empty() ? "the recording is silent: there is no signal to set an Es/N0 for"
                                  : fmt::format("the power of {} cannot be measured: {}",
                                                recording.data_path.string(), fault));
}

void read_lists(const ChannelOptions& options, dvbs2::ChannelConfig& channel) {
    for (const std::string& text : options.dropouts) {
        const auto few = few_numbers(text, "--dropout", 2, 2);
        channel.dropouts.push_back({few[0], few[1]});
    }
    if (!options.iq_offset.empty()) {
        const auto few = few_numbers(options.iq_offset, "--dc", 2, 2);
        channel.iq_offset = {static_cast<float>(few[0]), static_cast<float>(few[1])};
    }
}

dvbs2::LostSamples lost_of(const std::string& text) {
    const auto few = few_numbers(text, "--lose", 2, 2);
    const auto whole = [&](double number) {
        if (number >= 0 && number < 0x1p53 && number == std::floor(number))
            return static_cast<std::uint64_t>(number);
        throw WrongUsage(
            fmt::format("--lose {}: give whole numbers of samples from 0 to {:.0f}", text, 0x1p53 - 1));
    };
    return {whole(few[0]), whole(few[1])};
}

// Times are given in symbols, as those of echoes and dropouts.
void read_disturbances(const ChannelOptions& options, double symbol_rate_hz,
                       dvbs2::Disturbances& disturbances) {
    for (const std::string& text : options.tones) {
        const auto [hz, db, hz_per_s] = few_numbers(text, "--tone", 2, 3);
        disturbances.tones.push_back({hz / symbol_rate_hz, db, hz_per_s / symbol_rate_hz / symbol_rate_hz});
    }
    if (!options.pulses.empty()) {
        const auto few = few_numbers(options.pulses, "--pulses", 3, 3);
        disturbances.pulses = {few[0], few[1], few[2], options.random_pulses};
    }
    if (!options.steps.empty()) {
        const auto few = few_numbers(options.steps, "--steps", 2, 2);
        disturbances.steps = {few[0], few[1]};
    }
    if (!options.fading.empty()) {
        const auto few = few_numbers(options.fading, "--fading", 2, 2);
        disturbances.fading = {few[0], few[1]};
    }
    if (!options.gain_ripple.empty()) {
        const auto few = few_numbers(options.gain_ripple, "--gain-ripple", 2, 2);
        disturbances.gain_ripple = {few[0], few[1]};
    }
    if (!options.warm_up.empty()) {
        const auto few = few_numbers(options.warm_up, "--warm-up", 2, 2);
        disturbances.warm_up = {few[0] / symbol_rate_hz, few[1] * symbol_rate_hz};
    }
    if (!options.sweep.empty()) {
        const auto few = few_numbers(options.sweep, "--sweep", 3, 3);
        disturbances.sweep = {few[0] / symbol_rate_hz, few[1], few[2]};
    }
}

// The noise for an Es/N0 depends on it, and must not rest on a guess.
double symbol_rate_of(const ChannelOptions& options, const io::Recording& recording) {
    if (options.symbol_rate_hz > 0) return options.symbol_rate_hz;
    if (recording.symbol_rate_hz) return *recording.symbol_rate_hz;
    if (std::isfinite(options.channel.esn0_db))
        throw WrongUsage("--esn0: the recording does not give its symbol rate; give --symbol-rate");
    return sample_rate_hz(recording) / 2;
}

// Throws WrongUsage for what no channel does, or not to this recording.
dvbs2::ChannelConfig channel_of(const ChannelOptions& options, const io::Recording& recording,
                                const Verb& verb) {
    const double symbol_rate_hz = symbol_rate_of(options, recording);
    dvbs2::ChannelConfig channel = options.channel;
    channel.samples_per_symbol = sample_rate_hz(recording) / symbol_rate_hz;
    channel.frequency_cycles_per_symbol = options.frequency_hz / symbol_rate_hz;
    channel.drift_cycles_per_symbol2 = options.drift_hz_per_s / symbol_rate_hz / symbol_rate_hz;
    channel.clock_drift_ppm_per_symbol = options.clock_drift_ppm_per_s / symbol_rate_hz;
    read_lists(options, channel);
    read_disturbances(options, symbol_rate_hz, channel.disturbances);
    if (!options.phase_mask.empty()) channel.phase_mask = phase_mask_of(options.phase_mask, symbol_rate_hz);
    check_values(channel, symbol_rate_hz, verb);
    check_places(channel, recording.samples, verb);
    return channel;
}

// Signal and noise together get the level that was asked for.
io::RecordingWriter writer_of(const ChannelOptions& options, const dvbs2::ChannelConfig& channel,
                              double rate_hz) {
    const double noise_power =
        channel.samples_per_symbol * channel.rate_ratio * std::pow(10.0, -channel.esn0_db / 10.0);
    io::SigmfMetadata description;
    description.format = stored_format(options.output, options.format);
    warn_of_rounding(options.level_dbfs, description.format);
    description.sample_rate_hz = rate_hz * channel.rate_ratio;
    description.symbol_rate_hz = rate_hz / channel.samples_per_symbol;
    description.description = "made by Tidemill; channel simulated";
    const double gain = std::pow(10.0, options.level_dbfs / 20.0) / std::sqrt(1.0 + noise_power);
    return writing(
        [&] { return io::RecordingWriter(options.output, description, static_cast<float>(gain)); });
}

std::string report_of(const ChannelOptions& options, const io::RecordingWriter& writer) {
    if (!options.json)
        return fmt::format("{} samples, {} of them limited, in {}\n", writer.samples(),
                           writer.limited_samples(), options.output);
    const Json json{{"recording", options.output},
                    {"samples", writer.samples()},
                    {"samples_limited", writer.limited_samples()}};
    return to_text(json, 2) + "\n";
}

int run_channel(const ChannelOptions& options, const Verb& verb) {
    const io::Recording recording =
        io::open_recording(options.recording, {.format = {}, .sample_rate_hz = options.sample_rate_hz});
    const dvbs2::ChannelConfig config = channel_of(options, recording, verb);
    dvbs2::Channel channel(config);
    const auto to_unit_power = static_cast<float>(1 / std::sqrt(signal_power(recording)));
    io::RecordingWriter writer = writer_of(options, config, sample_rate_hz(recording));
    std::vector<dsp::Iq> received;
    read_all(recording, [&](std::span<dsp::Iq> samples) {
        for (dsp::Iq& sample : samples) sample *= to_unit_power;
        channel.process(samples, received);
        writing([&] { writer.write(received); });
        received.clear();
    });
    channel.finish(received);
    writing([&] {
        writer.write(received);
        writer.close();
    });
    report(report_of(options, writer), is_standard_stream(options.output));
    return kDone;
}

void add_disturbances(Verb& verb, ChannelOptions& options) {
    verb.option(
        "--pulses", options.pulses,
        "EVERY,SYMBOLS,DB: bursts of noise, so long and so far over the signal, one in so many symbols");
    verb.flag("--random-pulses", options.random_pulses, "Pulses come at random places within their periods")
        .needs("--pulses");
    verb.option("--tone", options.tones, "HZ,DB or HZ,DB,HZ/S: a line so far over the signal, and its drift");
    verb.option("--fading", options.fading, "PERIOD,DB: the signal's level, a sine in dB, period in symbols");
    verb.option("--steps", options.steps,
                "EVERY,DB: the receiver's gain goes up and down after so many symbols");
    verb.option("--sweep", options.sweep,
                "HZ,SYMBOLS,MIDDLE: the frequency falls from +HZ to -HZ as tanh does, at MIDDLE fastest");
    verb.option("--gain-ripple", options.gain_ripple,
                "PERIOD,DB: the receiver's gain, a sine in dB, period in symbols");
    verb.option(
        "--warm-up", options.warm_up,
        "HZ,SECONDS: the frequency begins HZ off and settles exponentially, SECONDS its time constant");
    verb.parsed("--lose", options.channel.disturbances.lost, lost_of,
                "BEGIN,COUNT: samples that the receiver lost");
}

void add_impairments(Verb& verb, ChannelOptions& options) {
    dvbs2::ChannelConfig& channel = options.channel;
    verb.option("--esn0", channel.esn0_db, "Es/N0 in dB, by the level of the recording where it is loud")
        .in(range_of("esn0_db"))
        .shows("no noise");
    verb.option("--cfo", options.frequency_hz, "Frequency offset in Hz");
    verb.option("--drift", options.drift_hz_per_s, "Drift of the frequency in Hz/s");
    verb.option("--phase", channel.phase_rad, "Phase in radians").in(range_of("phase_rad"));
    verb.option("--phase-noise", channel.phase_noise_deg,
                "Phase walk: standard deviation over 1000 symbols in degrees")
        .in(range_of("phase_noise_deg"));
    verb.option("--phase-mask", options.phase_mask,
                "HZ:DBC,HZ:DBC,...: phase noise in dBc/Hz, straight between in the logarithm of HZ");
    verb.option("--ppm", channel.clock_offset_ppm, "Offset of the receiver's sample clock in ppm")
        .in(range_of("clock_offset_ppm"));
    verb.option("--clock-drift", options.clock_drift_ppm_per_s, "Drift of that offset in ppm/s");
    verb.option("--delay", channel.delay_symbols, "Delay in symbols, fractions too");
    verb.option("--rate-ratio", channel.rate_ratio, "Output over input sample rate");
    verb.flag("--invert", channel.inverted_spectrum, "Invert the spectrum");
    verb.parsed("--echo", channel.echoes, echo_of,
                "SYMBOLS,DB or SYMBOLS,DB,DEGREES: so late, over the direct way");
    verb.option("--dropout", options.dropouts, "BEGIN,SYMBOLS: nothing arrives for so many symbols");
    verb.option("--dc", options.iq_offset,
                "I,Q: what the receiver adds to them, 1 for the signal's root mean square");
    verb.option("--iq-gain", channel.iq_gain_db, "Gain of the receiver's Q over its I in dB")
        .in(range_of("iq_gain_db"));
    verb.option("--iq-angle", channel.iq_angle_deg, "Degrees by which I and Q are off a right angle")
        .in(range_of("iq_angle_deg"));
    verb.option("--lead", channel.lead_samples, "Samples of noise before the signal")
        .in(range_of("lead_samples"));
    verb.option("--tail", channel.tail_samples, "Samples of noise after the signal")
        .in(range_of("tail_samples"));
    verb.option("--seed", channel.seed, "Seed of the noise");
}

}  // namespace

void add_dvbs2_channel(Verb& dvbs2) {
    auto options = std::make_shared<ChannelOptions>();
    Verb& verb = dvbs2.verb("channel", "Put a clean recording through a simulated channel");
    verb.footer(
        "Example: tidemill dvbs2 channel clean.sigmf-meta -o noisy.sigmf-meta --esn0 8 --cfo 20e3 --ppm 20");
    verb.option("recording", options->recording,
                "Clean signal: SigMF recording, .wav, or raw samples by the extension")
        .is(Kind::input_file)
        .required();
    verb.option("-o,--output", options->output,
                "SigMF recording, raw samples by the extension, or vita49://host:port for packets at the "
                "recording's pace")
        .is(Kind::output_place)
        .networks({"vita49"})
        .required();
    verb.option("--rate,--sample-rate", options->sample_rate_hz,
                "Samples per second, if the recording has no rate")
        .in(between(io::kLeastSampleRateHz, io::kMostSampleRateHz));
    verb.option("--symbol-rate", options->symbol_rate_hz, "Symbols per second")
        .in(above(0))
        .shows("the recording's, else half the sample rate");
    add_impairments(verb, *options);
    add_disturbances(verb, *options);
    add_stored_format(verb, options->format);
    verb.option("--level", options->level_dbfs, "Root mean square in dB below full scale")
        .in(between(-60.0, 0.0));
    verb.flag("--json", options->json, "One JSON object on standard output");
    verb.does([options, &verb] { return run_channel(*options, verb); });
}

}  // namespace tidemill::cli
