#include "tidemill/apps/reception/other_reading.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "tidemill/apps/reception/reception_input.hpp"
#include "tidemill/base/error.hpp"
#include "tidemill/base/plural.hpp"
#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/io/live/live_kinds.hpp"
#include "tidemill/io/recordings/recording_reader.hpp"
#include "tidemill/io/recordings/sample_format_name.hpp"
#include "tidemill/runtime/execute/sequence.hpp"

namespace tidemill::cli {

namespace {

using dsp::SampleFormat;

constexpr double kLookedAtSymbols = 2e5;  // six of the longest frames
constexpr std::uint64_t kMostSamples = 1 << 22;

double samples_per_symbol(const ReceptionOptions& options, const io::Recording& recording) {
    const double symbol_rate_hz = told_symbol_rate_hz(options);
    return symbol_rate_hz > 0 ? recording.sample_rate_hz.value_or(0) / symbol_rate_hz : 2;
}

// Samples that cannot be read so hold none.
bool has_frames(ReceptionOptions options, const OtherReading& reading, std::uint64_t first) {
    constexpr std::uint64_t kFramesThatConvince = 2;
    options.skipped_bytes = reading.skipped_bytes;
    if (reading.format) options.format = reading.format;
    options.opened = options.came = {};
    try {
        const io::Recording recording = open_job(options).recording;
        if (first >= recording.samples) return false;
        const auto wanted = std::min<std::uint64_t>(
            kMostSamples, std::llround(kLookedAtSymbols * samples_per_symbol(options, recording)));
        options.part = RecordingPart{first, std::min(wanted, recording.samples - first)};
        ReceptionJob job = prepare(options);
        const auto source = open_source(job);
        dvbs2::Receiver receiver(*source, job.config,
                                 dvbs2::RxOutputs{.streams = {.packets = [](auto, auto) {}}});
        const auto enough = [&] { return receiver.totals().frames_good() >= kFramesThatConvince; };
        Sequence(receiver.graph()).run({.stop_when = enough, .statistics = false});
        return enough();
    } catch (const Error&) {
        return false;
    }
}

// The likeliest first: half a sample.
std::vector<OtherReading> shifted(const io::Recording& recording) {
    const std::size_t bytes = io::stored_bytes_per_sample(recording);
    std::vector<OtherReading> all{{.skipped_bytes = bytes / 2}};
    for (std::size_t skipped = 1; skipped < bytes; ++skipped)
        if (skipped != bytes / 2) all.push_back({.skipped_bytes = skipped});
    return all;
}

std::vector<OtherReading> in_other_formats(const io::Recording& recording) {
    std::vector<OtherReading> all;
    for (const SampleFormat format :
         {SampleFormat::ci8, SampleFormat::cu8, SampleFormat::ci16, SampleFormat::cf32, SampleFormat::ci16_be,
          SampleFormat::cf64, SampleFormat::cf32_be})
        if (format != recording.format || recording.integers.bytes > 0) all.push_back({.format = format});
    return all;
}

// Whether there is a signal left that could be received: what has ended leaves noise.
bool is_as_loud(const io::Recording& recording, std::uint64_t first) {
    constexpr std::uint64_t kLength = 1 << 16;
    io::RecordingReader reader(recording);
    std::vector<std::byte> bytes(kLength * dsp::bytes_per_sample(reader.format()));
    const auto power_from = [&](std::uint64_t sample) {
        reader.seek(sample);
        const std::size_t got = reader.read(bytes);
        std::vector<dsp::Iq> samples(got / dsp::bytes_per_sample(reader.format()));
        dsp::convert_samples(reader.format(), std::span(bytes).first(got), samples);
        double power = 0;
        for (const dsp::Iq& each : samples) power += std::norm(each);
        return power / static_cast<double>(std::max<std::size_t>(samples.size(), 1));
    };
    const double before = power_from(first - std::min(first, kLength));
    return !(power_from(first) < before / 2);
}

// Raw samples go on behind a byte of their file; others have no such place.
std::string rest_text(const ReceptionOptions& options, const io::Recording& recording, std::uint64_t first,
                      std::uint64_t skipped) {
    if (recording.integers.bytes > 0 || !recording.more_pieces.empty()) return "";
    const std::uint64_t at = recording.data_offset + first * io::stored_bytes_per_sample(recording) + skipped;
    const double symbol_rate_hz = told_symbol_rate_hz(options);
    return fmt::format("; receive the rest: tail -c +{} '{}' | tidemill dvbs2 rx - --format {} --rate {}{}",
                       at + 1, recording.data_path.string(), cli::name_of(recording.format),
                       *recording.sample_rate_hz,
                       symbol_rate_hz > 0 ? fmt::format(" --symbol-rate {}", symbol_rate_hz) : "");
}

}  // namespace

std::optional<OtherReading> find_other_reading(const ReceptionOptions& options, std::uint64_t first) {
    if (io::live_kind_of(options.recording) || options.part || options.doppler || options.skipped_bytes > 0)
        return std::nullopt;
    io::Recording recording;
    try {
        recording = io::open_recording(options.recording, {options.format, options.sample_rate_hz});
    } catch (const Error&) {
        return std::nullopt;
    }
    // Samples that give frames as they are need no other reading; I and Q of neighbours give most of them,
    // too.
    if (has_frames(options, {}, first)) return std::nullopt;
    std::vector<OtherReading> readings = shifted(recording);
    if (first == 0) std::ranges::copy(in_other_formats(recording), std::back_inserter(readings));
    for (const OtherReading& reading : readings) {
        if (options.given_up && options.given_up()) break;
        if (has_frames(options, reading, first)) return reading;
    }
    return std::nullopt;
}

std::string skipped_text(std::uint64_t bytes) {
    return fmt::format(
        "the samples are received {} byte{} later, as a part of one is missing or a header stands before "
        "them",
        bytes, plural(bytes));
}

std::string slip_behind(const ReceptionOptions& options, const ReceptionJob& job, double end_s) {
    constexpr double kFewSymbols = 1.5e5;
    const io::Recording& recording = job.recording;
    const double rate_hz = recording.sample_rate_hz.value_or(0);
    if (job.stream || rate_hz == 0 || !(end_s > 0)) return "";
    const auto first = static_cast<std::uint64_t>(end_s * rate_hz);
    const auto few = static_cast<std::uint64_t>(kFewSymbols * samples_per_symbol(options, recording));
    if (first + few >= recording.samples || !is_as_loud(recording, first)) return "";
    const auto reading = find_other_reading(options, first);
    if (!reading) return "";
    return fmt::format(
        "at about {:.2f} s a part of a sample is missing or too much: nothing behind that was received, and "
        "{} byte{} later there are frames{}",
        end_s, reading->skipped_bytes, plural(reading->skipped_bytes),
        rest_text(options, recording, first, reading->skipped_bytes));
}

}  // namespace tidemill::cli
