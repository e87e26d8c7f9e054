#include "tidemill/apps/reception/rx_fields.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "tidemill/apps/reception/rx_outcome.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/base/plural.hpp"
#include "tidemill/dvbs2/standard/modcod_name.hpp"
#include "tidemill/options/option.hpp"

namespace tidemill::cli {

namespace {

using View = const RxView&;
using Pls = const dvbs2::Pls&;

/// A value of a reception's report. Reports for people and for programs and the lines of --status are made of
/// these alone.
struct Field {
    std::string_view name;       // in a report's JSON, with its unit; empty: not there
    std::string_view status;     // in a line of --status
    std::string_view line;       // of a report for people
    std::string_view text;       // in that line, {} for the value; empty: value and name
    Json (*value)(View);         // null where nothing is known
    std::optional<int> usual{};  // people see other values only
};

// The fields of a line stand together.
constexpr std::string_view kLosses = "losses";
constexpr std::string_view kDisturbed = "disturbed";  // what a signal suffers from, lost or not

const dvbs2::Modcod& defined_modcod(Pls pls) {
    return *dvbs2::find_modcod(pls.modcod);
}

// Value that only a live input has.
template <auto RingState::*tells>
Json of_ring(View view) {
    return view.ring ? Json((*view.ring).*tells) : Json();
}

// Value in the last frame's header, once there is one.
template <Json (*tells)(View, Pls)>
Json of_pls(View view) {
    return view.pls ? tells(view, *view.pls) : Json();
}

// The latest of a live input; what a file lacks has no place.
Json latest_overflows(View view) {
    if (!view.ring) return {};
    Json json = Json::array();
    for (const ObservedGap& gap : view.ring->latest_gaps)
        json.push_back({{"at_s", gap.at_s}, {"samples", gap.samples}, {"by", name(gap.by)}});
    return json;
}

Json on_air_mhz(View view, Pls) {
    const auto hz = on_air_hz(view.whole->job, view.now.frequency_hz);
    return hz ? Json(*hz / 1e6) : Json();
}

Json number_or_null(const std::optional<double>& number) {
    return number ? Json(*number) : Json();
}

// White noise alone has a sample in 10^7 that looks like a pulse: not worth a word.
double blanked_percent(double share) {
    constexpr double kWorthAWord = 1e-5;
    return share < kWorthAWord ? 0 : 100 * share;
}

Json tones_hz(View view) {
    Json json = Json::array();
    for (const double hz : view.now.tones_hz) json.push_back(hz);
    return json;
}

// "tone at +52.5 kHz".
Json tones_text(View view) {
    std::string text;
    for (const double hz : view.now.tones_hz)
        text += (text.empty() ? "tone at " : ", tone at ") +
                (std::abs(hz) < 1000 ? fmt::format("{:+.0f} Hz", hz) : fmt::format("{:+.1f} kHz", hz / 1000));
    return text.empty() ? Json() : Json(text);
}

// "too weak: 12 of 14 bad frames, down to -1.3 dB Es/N0".
Json weak_text(View view) {
    const dvbs2::FrameTotals& totals = view.now.totals;
    if (totals.frames_weak == 0) return {};
    return fmt::format("too weak: {} of {} bad frame{}, down to {:.1f} dB Es/N0", totals.frames_weak,
                       totals.frames_bad, plural(totals.frames_bad), totals.weakest_esn0_db);
}

// Value that only frames which were too weak have.
Json weakest_esn0_db(View view) {
    const dvbs2::FrameTotals& totals = view.now.totals;
    return totals.frames_weak > 0 ? Json(double{totals.weakest_esn0_db}) : Json();
}

// "drift of 1.2 kHz/s".
Json drift_text(View view) {
    const double hz_per_s = view.now.largest_drift_hz_per_s;
    if (hz_per_s == 0) return {};
    return hz_per_s < 1000 ? fmt::format("drift of {:.0f} Hz/s", hz_per_s)
                           : fmt::format("drift of {:.1f} kHz/s", hz_per_s / 1000);
}

// Value that only an echo has that is being equalised.
template <auto dvbs2::ReceptionNow::*tells>
Json of_echo(View view) {
    return view.now.echo_symbols != 0 ? Json(view.now.*tells) : Json();
}

Json echo_text(View view) {
    const dvbs2::ReceptionNow& now = view.now;
    if (now.echo_symbols == 0) return {};
    return fmt::format("echo of {:.0f} dB at {:.1f} symbols: equalised", now.echo_db, now.echo_symbols);
}

// A signal without its clock for longer than any hunt takes.
bool is_clockless(const dvbs2::ReceptionNow& now) {
    constexpr double kSymbols = 131072;
    return now.clockless.seconds * now.symbol_rate_hz > kSymbols;
}

template <auto dvbs2::Clockless::*tells>
Json of_clockless(View view) {
    return is_clockless(view.now) ? Json(view.now.clockless.*tells) : Json();
}

Json clockless_text(View view) {
    const dvbs2::ReceptionNow& now = view.now;
    if (!is_clockless(now)) return {};
    return fmt::format(
        "no clock of {:.0f} symbols/s from {:.2f} s on, for {:.2f} s: noise, or a signal of another symbol "
        "rate",
        now.symbol_rate_hz, now.clockless.begin_s, now.clockless.seconds);
}

// "at least 1234 samples missing at 1 place, the last at 3.120 s".
Json gaps_text(View view) {
    const dvbs2::MissingSamples& missing = view.now.totals.missing;
    if (missing.gaps == 0) return {};
    return fmt::format("gaps: {}{} samples missing at {} place{}, {} {:.3f} s",
                       missing.gaps_at_least > 0 ? "at least " : "", missing.samples, missing.gaps,
                       plural(missing.gaps), missing.gaps == 1 ? "at" : "the last at", missing.last_s);
}

// Duration of the last gap; null while there was none.
Json gap_last_s(View view) {
    const dvbs2::MissingSamples& missing = view.now.totals.missing;
    return missing.gaps > 0 ? Json(missing.last_s) : Json();
}

Json iterations_a_frame(View view) {
    if (view.frames == view.frames_bad) return {};
    return static_cast<double>(view.ldpc_iterations) / static_cast<double>(view.frames - view.frames_bad);
}

Json modcods(View view) {
    Json json = Json::object();
    for (std::size_t code = 0; code < view.now.totals.frames_of_pls.size(); ++code) {
        const std::uint64_t frames = view.now.totals.frames_of_pls[code];
        const auto pls = dvbs2::Pls::from_code(static_cast<int>(code));
        if (frames > 0) {
            json[fmt::format("{} {}{}", modcod_name(defined_modcod(pls)), name(pls.size),
                             pls.pilots ? " pilots" : "")] = frames;
        }
    }
    return json;
}

// Fields taken off packets, by what the standard calls them.
Json issy_fields(View view) {
    Json json = Json::object();
    for (std::size_t kind = 0; kind < dvbs2::kIssyKinds; ++kind) {
        const std::uint64_t fields = view.whole->report.packets.issy_fields[kind];
        if (fields > 0) json[name(static_cast<dvbs2::IssyKind>(kind))] = fields;
    }
    return json;
}

Json frames_of_streams(View view) {
    Json json = Json::object();
    for (const auto& [stream, frames] : view.whole->report.frames_of_streams)
        json[std::to_string(stream)] = frames;
    return json;
}

std::string places_text(const RxOutcome& outcome) {
    std::string text;
    for (const std::string& place : outcome.outputs.places()) {
        text += text.empty() ? "" : ", ";
        text += is_standard_stream(place) ? "to standard output" : "in " + place;
    }
    return text.empty() ? "not written" : text;
}

const Field kFields[] = {
    {"", "time_s", "", "", [](View v) -> Json { return v.time_s; }},
    {"", "phase", "", "", [](View v) -> Json { return phase_of(v.now); }},
    {"", "lock", "", "", [](View v) -> Json { return v.now.locked; }},
    {"recording", "", "", "", [](View v) -> Json { return v.whole->job.recording.data_path.string(); }},

    {"", "modcod", "received", "{}",
     of_pls<[](View, Pls pls) -> Json { return modcod_name(defined_modcod(pls)); }>},
    {"modulation", "", "", "",
     of_pls<[](View, Pls pls) -> Json { return name(defined_modcod(pls).modulation); }>},
    {"code_rate", "", "", "", of_pls<[](View, Pls pls) -> Json { return name(defined_modcod(pls).rate); }>},
    {"modcod", "", "", "", of_pls<[](View, Pls pls) -> Json { return pls.modcod; }>},
    {"frame", "frame", "received", "{} frames", of_pls<[](View, Pls pls) -> Json { return name(pls.size); }>},
    {"pilots", "pilots", "received", "pilots {}", of_pls<[](View, Pls pls) -> Json { return pls.pilots; }>},
    {"inverted_spectrum", "", "received", "spectrum inverted",
     [](View v) -> Json { return v.now.totals.inverted; }, 0},
    {"symbol_rate_hz", "", "received", "{:.0f} symbols/s",
     [](View v) -> Json { return v.now.symbol_rate_hz; }},
    {"rolloff", "", "received", "roll-off {:.2f}",
     [](View v) -> Json { return v.whole->job.config.rolloff; }},
    {"gold_code", "", "received", "gold code {}",
     [](View v) -> Json { return v.whole->job.config.gold_code; }, 0},

    {"esn0_db", "esn0_db", "signal", "Es/N0 {:.2f} dB",
     of_pls<[](View v, Pls) -> Json { return v.esn0_db; }>},
    {"", "margin_db", "", "",
     of_pls<[](View v, Pls pls) -> Json { return v.esn0_db - defined_modcod(pls).esn0_threshold_db; }>},
    {"frequency_offset_hz", "offset_hz", "signal", "carrier {:+.1f} Hz",
     of_pls<[](View v, Pls) -> Json { return v.now.frequency_hz; }>},
    {"frequency_hz", "", "", "",
     of_pls<[](View v, Pls) -> Json { return on_air_hz(v.whole->job, v.now.frequency_hz); }>},
    {"", "", "signal", "at {:.6f} MHz", of_pls<on_air_mhz>},
    {"drift_hz_per_s", "drift_hz_per_s", "", "",
     of_pls<[](View v, Pls) -> Json { return v.now.drift_hz_per_s; }>},
    {"clock_offset_ppm", "clock_ppm", "signal", "clock {:+.1f} ppm",
     of_pls<[](View v, Pls) -> Json { return v.now.clock_ppm; }>},
    {"iq_offset_db", "iq_offset_db", "signal", "offset (DC) at {:.1f} dB taken out",
     [](View v) -> Json { return v.now.iq_offset_db; }},
    {"iq_image_db", "iq_image_db", "signal", "image at {:.1f} dB taken out",
     [](View v) -> Json { return v.now.iq_image_db; }},

    {"frames", "frames", "frames", "{}", [](View v) -> Json { return v.frames; }},
    {"frames_bad", "frames_bad", "frames", "{} bad", [](View v) -> Json { return v.frames_bad; }},
    {"frames_dummy", "", "frames", "{} dummy",
     [](View v) -> Json { return v.whole->report.sync.dummy_frames; }, 0},
    {"lock_frames", "", "frames", "locked after {}",
     of_pls<[](View v, Pls) -> Json { return v.now.totals.lock_frames(); }>},
    {"ldpc_iterations", "ldpc_iterations", "frames", "{:.1f} LDPC iterations a frame", iterations_a_frame},
    {"bch_corrected_bits", "bch_corrected_bits", "frames", "{} bits corrected by BCH",
     [](View v) -> Json { return v.corrected_bits; }},
    {"frames_equalised", "", "frames", "{} equalised", [](View v) -> Json { return v.now.frames_equalised; },
     0},
    {"", "modcods", "", "", modcods},
    {"frames_generic", "", "frames", "{} of generic streams",
     [](View v) -> Json { return v.whole->report.generic_frames; }, 0},
    {"frames_of_streams", "", "streams", "frames of each: {}", frames_of_streams},

    {"frames_bad", "", kLosses, "", [](View v) -> Json { return v.frames_bad; }, 0},
    {"bad_headers", "", kLosses, "", [](View v) -> Json { return v.whole->report.sync.bad_headers; }, 0},
    {"locks", "locks", kLosses, "", [](View v) -> Json { return v.now.locks; }, 1},
    {"symbols_outside_frames", "", kLosses, "",
     [](View v) -> Json { return v.whole->report.sync.symbols_outside; }, 0},
    {"blocks_without_signal", "", kLosses, "",
     [](View v) -> Json { return v.whole->report.blocks_without_signal; }, 0},
    {"blocks_without_clock", "", kLosses, "",
     [](View v) -> Json { return v.whole->report.blocks_without_clock; }, 0},
    {"ts_packets_dropped", "", kLosses, "",
     [](View v) -> Json { return v.whole->report.packets.packets_dropped; }, 0},
    {"ts_packets_not_sent", "", kLosses, "", [](View v) -> Json { return v.whole->all_not_sent(); }, 0},
    {"ts_packets_marked", "", kLosses, "",
     [](View v) -> Json { return v.whole->report.packets.packets_marked; }, 0},
    {"continuity_errors", "", kLosses, "", [](View v) -> Json { return v.ts.continuity_errors; }, 0},
    {"frames_faulty", "", kLosses, "", [](View v) -> Json { return v.whole->report.packets.frames_faulty; },
     0},
    {"frames_unsupported", "", kLosses, "",
     [](View v) -> Json { return v.whole->report.packets.frames_unsupported; }, 0},
    {"frames_of_other_streams", "", kLosses, "",
     [](View v) -> Json { return v.whole->report.packets.frames_of_other_streams; }, 0},
    {"samples_not_finite", "", kLosses, "", [](View v) -> Json { return v.whole->report.samples_not_finite; },
     0},
    {"samples_clipped", "", kLosses, "", [](View v) -> Json { return v.now.samples_clipped; }, 0},
    {"samples_blanked", "", kLosses, "", [](View v) -> Json { return v.now.samples_blanked; }, 0},
    {"frames_hurried", "frames_hurried", kLosses, "finer decoding left out for {} frames: short of time",
     [](View v) -> Json { return v.now.frames_hurried; }, 0},
    {"samples_missing", "", kLosses, "", [](View v) -> Json { return v.whole->missing_samples; }, 0},
    {"overflows", "overflows", kLosses, "", of_ring<&RingState::gaps>, 0},
    {"latest_overflows", "", "", "", latest_overflows},
    {"", "samples_missing", "", "", of_ring<&RingState::samples>},
    {"samples_missing_estimated", "samples_missing_estimated", kLosses, "", of_ring<&RingState::estimated>,
     0},
    {"trailing_bytes", "", kLosses, "", [](View v) -> Json { return v.whole->job.recording.trailing_bytes; },
     0},

    {"frames_weak", "frames_weak", "", "", [](View v) -> Json { return v.now.totals.frames_weak; }},
    {"weakest_esn0_db", "weakest_esn0_db", "", "", weakest_esn0_db},
    {"", "", kDisturbed, "{}", weak_text},
    {"pulses_percent", "pulses_percent", kDisturbed, "pulses: {:.2g} % of the samples blanked",
     [](View v) -> Json { return blanked_percent(v.now.blanked_share); }, 0},
    {"tones_hz", "tones_hz", "", "", tones_hz},
    {"", "", kDisturbed, "{}", tones_text},
    {"largest_drift_hz_per_s", "largest_drift_hz_per_s", "", "",
     [](View v) -> Json { return v.now.largest_drift_hz_per_s; }},
    {"", "", kDisturbed, "{}", drift_text},
    {"echo_symbols", "echo_symbols", "", "", of_echo<&dvbs2::ReceptionNow::echo_symbols>},
    {"echo_db", "echo_db", "", "", of_echo<&dvbs2::ReceptionNow::echo_db>},
    {"", "", kDisturbed, "{}", echo_text},
    {"clockless_from_s", "clockless_from_s", "", "", of_clockless<&dvbs2::Clockless::begin_s>},
    {"clockless_s", "clockless_s", "", "", of_clockless<&dvbs2::Clockless::seconds>},
    {"", "", kDisturbed, "{}", clockless_text},
    {"gaps", "gaps", "", "", [](View v) -> Json { return v.now.totals.missing.gaps; }},
    {"gaps_at_least", "gaps_at_least", "", "",
     [](View v) -> Json { return v.now.totals.missing.gaps_at_least; }},
    {"gap_samples", "gap_samples", "", "", [](View v) -> Json { return v.now.totals.missing.samples; }},
    {"gap_last_s", "gap_last_s", "", "", gap_last_s},
    {"", "", kDisturbed, "{}", gaps_text},

    {"info_mbps", "info_mbps", "speed", "{:.2f} Mb/s of information",
     [](View v) -> Json { return v.info_mbps; }},
    {"predicted_mbps", "", "speed", "predicted {:.2f} Mb/s",
     [](View v) -> Json { return number_or_null(v.whole->predicted_mbps); }},
    {"predicted_period_us", "", "", "",
     [](View v) -> Json { return number_or_null(v.whole->predicted_period_us); }},
    {"recorded_s", "", "speed", "{:.2f} s of signal", [](View v) -> Json { return v.whole->signal_s(); }},
    {"elapsed_s", "", "speed", "received in {:.2f} s", [](View v) -> Json { return v.whole->run.elapsed_s; }},
    {"total_s", "", "speed", "{:.2f} s in all", [](View v) -> Json { return v.whole->lasted_s; }},
    {"start_s", "", "speed", "{:.2f} of them before it began",
     [](View v) -> Json { return v.whole->start_s; }},
    {"interrupted", "", "speed", "interrupted", [](View v) -> Json { return v.whole->interrupted; }, 0},
    {"executor", "", "speed", "executor {}", [](View v) -> Json { return to_string(v.whole->executor); }},

    {"", "waiting_s", "", "", of_ring<&RingState::waiting_s>},
    {"least_room_s", "least_room_s", "speed", "{:.2f} s of samples left in the buffer at the least",
     of_ring<&RingState::least_room_s>},

    {"", "", "latency", "{:.2f} ms on average",
     [](View v) -> Json { return v.whole->run.latency.mean_us / 1000; }},
    {"", "", "latency", "99 % within {:.2f} ms",
     [](View v) -> Json { return v.whole->run.latency.p99_us / 1000; }},
    {"", "", "latency", "at most {:.2f} ms",
     [](View v) -> Json { return v.whole->run.latency.most_us / 1000; }},

    {"ts_packets", "ts_packets", "output", "{} packets", [](View v) -> Json { return v.ts.packets; }},
    {"generic_bytes", "", "output", "{} bytes of generic streams",
     [](View v) -> Json { return v.whole->report.generic_bytes; }, 0},
    {"", "", "output", "{}", [](View v) -> Json { return places_text(*v.whole); }},
    {"ts_packets_cut_off", "", "output", "the rest of {} cut off at the end",
     [](View v) -> Json { return v.whole->report.packets.packets_cut_off; }, 0},
    {"null_packets_put_back", "", "output", "{} null packets put back",
     [](View v) -> Json { return v.whole->report.packets.null_packets; }, 0},
    {"issy_fields", "", "output", "ISSY fields taken off: {}", issy_fields},
    {"programmes", "programmes", "", "", [](View v) -> Json { return v.ts.programmes; }},
    {"", "continuity_errors", "", "", [](View v) -> Json { return v.ts.continuity_errors; }},
    {"", "samples_clipped", "", "", [](View v) -> Json { return v.now.samples_clipped; }},
};

std::string in_text(std::string_view text, const Json& value);

// The parts of an object behind one another: "ISCR 12, BUFS 3".
std::string parts_of(const Json::Object& members) {
    std::string text;
    for (const auto& [key, part] : members)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, in_text("{}", part));
    return text;
}

/// How a value stands in a sentence; null and arrays never do.
struct InText {
    std::string_view text;

    std::string operator()(bool truth) const { return (*this)(std::string(truth ? "on" : "off")); }
    std::string operator()(const Json::Object& members) const { return (*this)(parts_of(members)); }
    std::string operator()(std::monostate) const { return {}; }
    std::string operator()(const Json::Array&) const { return {}; }
    std::string operator()(const auto& plain) const { return fmt::format(fmt::runtime(text), plain); }
};

std::string in_text(std::string_view text, const Json& value) {
    return value.visit(InText{text});
}

// "3 frames bad" of frames_bad.
std::string counted(std::string_view name, const Json& value) {
    std::string text = fmt::format("{} {}", in_text("{}", value), name);
    std::ranges::replace(text, '_', ' ');
    return text;
}

/// Whether a value is what one expects, or nothing, and so needs no words.
struct IsUsual {
    std::optional<double> usual;

    bool operator()(std::monostate) const { return true; }
    bool operator()(const Json::Object& members) const { return members.empty(); }
    bool operator()(double number) const { return !std::isfinite(number) || number == usual; }
    bool operator()(const std::string&) const { return false; }
    bool operator()(const Json::Array&) const { return false; }
    bool operator()(std::integral auto number) const { return static_cast<double>(number) == usual; }
};

void add_to_line(std::string& line, const Field& field, const Json& value) {
    if (value.visit(IsUsual{field.usual})) return;
    line += line.empty() ? "" : ", ";
    line += field.text.empty() ? counted(field.name, value) : in_text(field.text, value);
}

// All values of a line.
std::string content_of(std::string_view label, View view) {
    std::string line;
    for (const Field& field : kFields)
        if (field.line == label) add_to_line(line, field, field.value(view));
    return line;
}

std::string line_of(std::string_view label, const std::string& line) {
    return fmt::format("{:<11}{}\n", label, line);
}

}  // namespace

const char* phase_of(const dvbs2::ReceptionNow& now) {
    return now.locked ? "locked" : now.found ? "acquiring" : "searching";
}

TransportState seen_by(const io::TsMonitor& monitor) {
    return {monitor.packets(), monitor.programmes(), monitor.continuity_errors()};
}

std::optional<RingState> seen_by(const io::SampleRing* ring, const dvbs2::MissingSamples& missing) {
    if (!ring) return {};
    const io::RingFill fill = ring->fill();
    const io::SampleLosses losses = ring->losses();
    const double rate_hz = ring->sample_rate_hz().value_or(1);
    const double period_s = 1 / rate_hz;
    return RingState{.loses = ring->loses(),
                     .holds_s = static_cast<double>(fill.capacity) * period_s,
                     .waiting_s = static_cast<double>(fill.filled) * period_s,
                     .least_room_s = static_cast<double>(fill.capacity - fill.most_filled) * period_s,
                     .gaps = losses.gaps,
                     .samples = losses.samples,
                     .estimated = losses.estimated,
                     .silent_s = std::chrono::duration<double>(ring->silent_for()).count(),
                     .trouble = ring->trouble(),
                     .latest_gaps = observed_gaps(ring->latest_gaps(), missing, {rate_hz, ring->skipped()})};
}

Json status_json(const RxView& view) {
    Json json = Json::object();
    for (const Field& field : kFields) {
        if (!field.status.empty()) json[std::string(field.status)] = field.value(view);
    }
    return json;
}

Json fields_json(const RxView& view) {
    Json json = Json::object();
    for (const Field& field : kFields) {
        if (field.name.empty()) continue;
        const bool is_loss = field.line == kLosses || field.line == kDisturbed;
        Json& place = is_loss ? json[std::string(kLosses)] : json;
        place[std::string(field.name)] = field.value(view);
    }
    return json;
}

std::string fields_text(const RxView& view) {
    std::string text;
    std::string_view before;
    for (const Field& field : kFields) {
        if (field.line.empty() || field.line == before) continue;
        before = field.line;
        std::string line = content_of(field.line, view);
        if (line.empty() && field.line == kLosses) line = "none";
        if (!line.empty()) text += line_of(field.line, line);
    }
    return text;
}

std::string disturbances(const RxView& view) {
    return content_of(kDisturbed, view);
}

std::string disturbed_line(const RxView& view) {
    const std::string line = disturbances(view);
    return line.empty() ? "" : line_of(kDisturbed, line);
}

}  // namespace tidemill::cli
