#include "tidemill/apps/reception/scan_text.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/apps/reception/band_hearing.hpp"
#include "tidemill/apps/reception/carrier_choice.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/base/plain_text.hpp"
#include "tidemill/base/plural.hpp"
#include "tidemill/dvbs2/standard/modcod_name.hpp"
#include "tidemill/io/files/number_text.hpp"
#include "tidemill/io/files/standard_stream.hpp"

namespace tidemill::cli {

namespace {

using dvbs2::CarrierKind;
using dvbs2::SurveyedCarrier;
using dvbs2::SurveyedStream;

const char* kind_name(CarrierKind kind) {
    switch (kind) {
        case CarrierKind::dvbs2:
            return "DVB-S2";
        case CarrierKind::dvbs2_idle:
            return "DVB-S2, idle";
        case CarrierKind::dvbs2_weak:
            return "DVB-S2, not decoded";
        case CarrierKind::dvbs2x:
            return "DVB-S2X";
        case CarrierKind::dvbs:
            return "DVB-S";
        case CarrierKind::other:
        case CarrierKind::no_symbols:
        case CarrierKind::not_received:
            break;
    }
    return "unknown";
}

// A name off the air in one line.
std::string in_one_line(const std::string& name) {
    std::string text = plain_text(name);
    std::ranges::replace_if(
        text, [](char c) { return c == '\n' || c == '\t'; }, ' ');
    return text;
}

std::string stream_text(const SurveyedStream& stream) {
    if (stream.generic) return "generic";
    std::vector<std::string> parts{"TS"};
    for (const auto& [number, service] : stream.services) parts.push_back('"' + in_one_line(service) + '"');
    if (!stream.programmes.empty())
        parts.push_back(
            fmt::format("{} programme{}", stream.programmes.size(), plural(stream.programmes.size())));
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string streams_text(const SurveyedCarrier& carrier) {
    std::vector<std::string> texts;
    for (const auto& [number, stream] : carrier.streams)
        texts.push_back((carrier.streams.size() > 1 ? fmt::format("ISI {} ", number) : "") +
                        stream_text(stream));
    return fmt::format("{}", fmt::join(texts, "; "));
}

std::string rate_text(const SurveyedCarrier& carrier) {
    const double hz = carrier.symbol_rate_hz > 0 ? carrier.symbol_rate_hz : carrier.seen.symbol_rate_hz;
    return fmt::format("{}{:.1f} kBd", carrier.symbol_rate_hz > 0 ? "" : "~", hz / 1e3);
}

// A carrier's or tone's first columns; without a middle that is known none for its frequency.
std::string place_text(const std::string& number, double offset_hz, const std::string& rate,
                       const std::optional<double>& center_hz) {
    const std::string on_air = center_hz ? fmt::format("{:>12.4f} MHz ", (*center_hz + offset_hz) / 1e6) : "";
    return fmt::format("{:<8} {:>+12.1f} kHz {}{:>16}  ", number, offset_hz / 1e3, on_air, rate);
}

std::string line_of(std::size_t number, const SurveyedCarrier& c, const std::optional<double>& center_hz) {
    const std::string begin = place_text(std::to_string(number), c.offset_hz, rate_text(c), center_hz);
    if (c.kind != CarrierKind::dvbs2) return begin + reason_text(c) + "\n";
    const auto& modcod = *dvbs2::find_modcod(c.pls->modcod);
    return begin + fmt::format("{:<11} {:<17} {:>5.1f} dB  {}\n", modcod_name(modcod),
                               fmt::format("{}{}", name(c.pls->size), c.pls->pilots ? ", pilots" : ""),
                               c.esn0_db, reason_text(c));
}

bool is_received(const SurveyedCarrier& carrier) {
    return carrier.kind == CarrierKind::dvbs2;
}

// The same of bytes that may not be shown as they are.
std::string quoted_with_escapes(const std::string& path) {
    std::string text;
    for (const char c : path) text += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
    return "$'" + plain_line(text) + "'";
}

// Text as one word for a shell.
std::string quoted(const std::string& word) {
    const auto plain = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
               std::string_view("-_./:+").find(c) != std::string_view::npos;
    };
    std::string path = word.starts_with('-') && !io::is_standard_stream(word) ? "./" + word : word;
    if (std::ranges::all_of(path, plain)) return path;
    if (plain_line(path) != path) return quoted_with_escapes(path);
    std::string text = "'";
    for (const char c : path) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

Json stream_json(int number, const SurveyedStream& stream) {
    Json services = Json::array();
    for (const auto& [service, name] : stream.services)
        services.push_back({{"number", service}, {"name", in_one_line(name)}});
    return {{"isi", number},
            {"kind", stream.generic ? "generic" : "ts"},
            {"programmes", stream.programmes},
            {"services", services}};
}

Json carrier_json(const SurveyedCarrier& c, const std::optional<double>& center_hz) {
    Json json{{"kind", kind_name(c.kind)},
              {"offset_hz", c.offset_hz},
              {"frequency_hz", center_hz ? Json(*center_hz + c.offset_hz) : Json()},
              {"symbol_rate_hz", c.symbol_rate_hz > 0 ? Json(c.symbol_rate_hz) : Json()},
              {"width_hz", c.seen.symbol_rate_hz},
              {"rolloff", c.rolloff},
              {"level_db", c.seen.level_db},
              {"heard_s", c.heard_s}};
    if (c.kind == CarrierKind::dvbs2x) json["pls_code"] = c.header_code;
    if (c.vl_snr_header) json["vl_snr_header"] = *c.vl_snr_header;
    if (c.kind == CarrierKind::dvbs) json["code_rate"] = std::string(c.dvbs_rate);
    if (!is_received(c)) {
        json["reason"] = reason_text(c);
        return json;
    }
    json["modcod"] = modcod_name(*dvbs2::find_modcod(c.pls->modcod));
    json["frame"] = name(c.pls->size);
    json["pilots"] = c.pls->pilots;
    json["esn0_db"] = c.esn0_db;
    json["streams"] = Json::array();
    for (const auto& [number, stream] : c.streams) json["streams"].push_back(stream_json(number, stream));
    json["options"] = carrier_options(c);
    return json;
}

// The strongest are reported.
std::string tone_lines(const std::vector<double>& tones_hz, const std::optional<double>& center_hz) {
    constexpr std::size_t kTold = 10;
    std::vector<double> told(
        tones_hz.begin(), tones_hz.begin() + static_cast<std::ptrdiff_t>(std::min(kTold, tones_hz.size())));
    std::ranges::sort(told);
    std::string text;
    for (const double tone_hz : told) text += place_text("-", tone_hz, "-", center_hz) + "a plain tone\n";
    if (tones_hz.size() > kTold)
        text += fmt::format("{:<8} and {} weaker plain tones\n", "-", tones_hz.size() - kTold);
    return text;
}

}  // namespace

std::string reason_text(const SurveyedCarrier& carrier) {
    switch (carrier.kind) {
        case CarrierKind::dvbs2:
            return streams_text(carrier);
        case CarrierKind::dvbs2_idle:
            return fmt::format("DVB-S2, but nothing but dummy frames in {:.1f} s", carrier.heard_s);
        case CarrierKind::dvbs2_weak:
            return fmt::format(
                "frame headers of DVB-S2, but no frame decoded in {}: Es/N0 too low, or another gold "
                "code",
                io::seconds_text(carrier.heard_s));
        case CarrierKind::dvbs2x:
            return fmt::format("DVB-S2X ({}PLS code {})", carrier.vl_snr_header ? "VL-SNR, " : "",
                               carrier.header_code);
        case CarrierKind::dvbs:
            return fmt::format("not DVB-S2, but DVB-S (QPSK {})", carrier.dvbs_rate);
        case CarrierKind::other:
            return fmt::format("not DVB-S2 (no frame header in {})", io::seconds_text(carrier.heard_s));
        case CarrierKind::no_symbols:
            return "not DVB-S2 (no symbol clock)";
        case CarrierKind::not_received:
            return "cut off by the edge of the recorded band";
    }
    return {};
}

ScannedBand scan_band(const ReceptionJob& job,
                      const std::function<void(std::size_t, std::size_t)>& listened) {
    ScannedBand band{.recording = job.recording.data_path.string(),
                     .sample_rate_hz = job.recording.sample_rate_hz.value(),
                     .center_frequency_hz = job.recording.center_frequency_hz};
    if (job.stream)
        band.live_s = static_cast<double>(job.beginning.size()) /
                      static_cast<double>(dsp::bytes_per_sample(job.recording.format)) / band.sample_rate_hz;
    HeardBand heard = hear_band(job, dvbs2::SurveyDepth::services, listened);
    for (const double hz : heard.tones_hz)
        if (std::ranges::none_of(heard.carriers,
                                 [&](const SurveyedCarrier& one) { return one.seen.covers(hz); }))
            band.tones_hz.push_back(hz);
    for (SurveyedCarrier& carrier : heard.carriers)
        if (!is_noise_of_radio(carrier, band.sample_rate_hz)) band.carriers.push_back(std::move(carrier));
    return band;
}

std::string carrier_options(const SurveyedCarrier& carrier) {
    const CarrierCall call = call_of(carrier);
    const std::string rolloff = call.rolloff == 0.20 ? "" : fmt::format(" --rolloff {:.2f}", call.rolloff);
    return fmt::format("--offset {:+.1f}k --symbol-rate {:.0f}{}", call.offset_hz / 1e3, call.symbol_rate_hz,
                       rolloff);
}

std::string scan_text(const ScannedBand& band) {
    const std::optional<double>& center_hz = band.center_frequency_hz;
    std::string text = fmt::format("{:<8} {:>16} {}{:>16}  {:<11} {:<17} {:>8}  {}\n", "carrier", "offset",
                                   center_hz ? fmt::format("{:>16} ", "frequency") : "", "symbol rate",
                                   "MODCOD", "frames", "Es/N0", "streams");
    for (std::size_t k = 0; k < band.carriers.size(); ++k)
        text += line_of(k + 1, band.carriers[k], center_hz);
    text += tone_lines(band.tones_hz, center_hz);
    if (band.carriers.empty() && band.tones_hz.empty())
        return band.live_s > 0
                   ? fmt::format("no carrier found in the first {}\n", io::seconds_text(band.live_s))
                   : "no carrier found\n";
    const auto best = std::ranges::max_element(band.carriers, {}, [](const SurveyedCarrier& c) {
        return is_received(c) ? c.esn0_db - dvbs2::find_modcod(c.pls->modcod)->esn0_threshold_db : -1e9;
    });
    if (best == band.carriers.end() || !is_received(*best)) return text;
    const std::string call = fmt::format("tidemill dvbs2 rx {}{}", quoted(band.recording), band.how_to_read);
    text += fmt::format("receive one:  {} {} -o video.ts\n", call, carrier_options(*best));
    if (std::ranges::count_if(band.carriers, is_received) < 2) return text;
    return text + fmt::format("receive all:  {} --carrier all -o video.ts\n", call);
}

std::string scan_json(const ScannedBand& band) {
    Json carriers = Json::array();
    for (const SurveyedCarrier& carrier : band.carriers)
        carriers.push_back(carrier_json(carrier, band.center_frequency_hz));
    return to_text(Json{{"recording", band.recording},
                        {"sample_rate_hz", band.sample_rate_hz},
                        {"center_frequency_hz", Json(band.center_frequency_hz)},
                        {"carriers", carriers},
                        {"tones_hz", band.tones_hz}},
                   2) +
           "\n";
}

}  // namespace tidemill::cli
