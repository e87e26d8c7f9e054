#include "tidemill/io/recordings/sigmf.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "tidemill/base/json_error.hpp"
#include "tidemill/base/json_location.hpp"
#include "tidemill/io/io_error.hpp"

namespace tidemill::io {
namespace {

constexpr const char* kSymbolRate = "tidemill:symbol_rate";  // an extension of ours

using dsp::SampleFormat;

constexpr double kMinSampleRateHz = 1;
constexpr double kMaxSampleRateHz = 1e11;

struct NamedFormat {
    std::string_view name;
    SampleFormat format;
    StoredIntegers integers{};
};

constexpr NamedFormat kDatatypes[] = {
    {"cf32_le", SampleFormat::cf32},
    {"ci16_le", SampleFormat::ci16},
    {"ci8", SampleFormat::ci8},
    {"cu8", SampleFormat::cu8},
    {"cf64_le", SampleFormat::cf64},
    {"cf32_be", SampleFormat::cf32_be},
    {"ci16_be", SampleFormat::ci16_be},
    {"cf64_be", SampleFormat::cf64_be},
    {"ci32_le", SampleFormat::cf32, {.bytes = 4, .bits = 32}},
    {"ci32_be", SampleFormat::cf32, {.bytes = 4, .bits = 32, .is_big_endian = true}},
    {"cu32_le", SampleFormat::cf32, {.bytes = 4, .bits = 32, .is_unsigned = true}},
    {"cu32_be", SampleFormat::cf32, {.bytes = 4, .bits = 32, .is_unsigned = true, .is_big_endian = true}},
    {"cu16_le", SampleFormat::cf32, {.bytes = 2, .bits = 16, .is_unsigned = true}},
    {"cu16_be", SampleFormat::cf32, {.bytes = 2, .bits = 16, .is_unsigned = true, .is_big_endian = true}},
};

template <typename Value>
std::optional<Value> member(const JsonLocation& object, std::string_view name,
                            Value (JsonLocation::*read)() const) {
    const auto found = object.find(name);
    return found ? std::optional((*found.*read)()) : std::nullopt;
}

std::string text_or_none(const JsonLocation& object, std::string_view name) {
    return member(object, name, &JsonLocation::text).value_or("");
}

// A whole number, which some programs write as 0.0.
std::uint64_t whole_number(const JsonLocation& object, std::string_view name) {
    const auto found = object.find(name);
    if (!found) return 0;
    const double* const real = found->value().get_if<double>();
    const bool is_whole = real && *real >= 0 && *real < 0x1p53 && *real == std::floor(*real);
    return is_whole ? static_cast<std::uint64_t>(*real) : found->count();
}

const NamedFormat* datatype_of(std::string_view name) {
    const auto* const found = std::ranges::find(kDatatypes, name, &NamedFormat::name);
    return found == std::end(kDatatypes) ? nullptr : found;
}

// Bytes have no order, and a text without one for numbers of several means the usual one.
void read_datatype(const JsonLocation& global, SigmfMetadata& metadata) {
    const std::string name = text_or_none(global, "core:datatype");
    const NamedFormat* found = datatype_of(name);
    if (!found && (name == "ci8_le" || name == "cu8_le" || name == "ci8_be" || name == "cu8_be"))
        found = datatype_of(name.substr(0, 3));
    if (!found && (found = datatype_of(name + "_le")))
        metadata.warnings.push_back(
            fmt::format("datatype \"{0}\" has no order of bytes: read as {0}_le", name));
    if (!found && name.starts_with('r'))
        global.fail(fmt::format("datatype \"{}\" is not I and Q: its samples are real numbers", name));
    if (!found)
        global.fail(
            fmt::format("datatype \"{}\" is not supported; supported are cf32, cf64, ci32, cu32, ci16 and "
                        "cu16 with _le or _be, ci8 and cu8",
                        name));
    metadata.format = found->format;
    metadata.integers = found->integers;
}

std::optional<double> read_sample_rate(const JsonLocation& global) {
    const auto rate_hz = member(global, "core:sample_rate", &JsonLocation::number);
    if (rate_hz && !(*rate_hz >= kMinSampleRateHz && *rate_hz <= kMaxSampleRateHz))
        global.fail(fmt::format("a sample rate of {} Hz is not possible; expected {} to {:.0e} Hz", *rate_hz,
                                kMinSampleRateHz, kMaxSampleRateHz));
    return rate_hz;
}

std::optional<double> read_symbol_rate(const JsonLocation& global) {
    const auto rate_hz = member(global, kSymbolRate, &JsonLocation::number);
    if (rate_hz && !(*rate_hz > 0 && *rate_hz <= kMaxSampleRateHz))
        global.fail(fmt::format("a symbol rate of {} Hz is not possible", *rate_hz));
    return rate_hz;
}

std::string read_dataset(const JsonLocation& global) {
    auto name = text_or_none(global, "core:dataset");
    // A data file elsewhere would let a downloaded metadata file point at any file of the reader's.
    if (name.find('/') != std::string::npos || name == "..")
        global.fail(fmt::format("\"core:dataset\" is \"{}\"; it must be a file beside the metadata", name));
    return name;
}

void refuse_unsupported(const JsonLocation& global) {
    if (member(global, "core:num_channels", &JsonLocation::number).value_or(1) != 1)
        global.fail("several channels are interleaved; only one is supported");
    if (member(global, "core:metadata_only", &JsonLocation::flag).value_or(false))
        global.fail("it says that there are no data (core:metadata_only)");
}

/// A part of a recording that was made in one go.
struct Capture {
    std::uint64_t start = 0;
    std::optional<double> frequency_hz{};
};

// A capture at another frequency is another signal: a carrier would be lost in the middle of it.
void take_frequency(const JsonLocation& root, const std::vector<Capture>& captures, SigmfMetadata& metadata) {
    for (const Capture& capture : captures) {
        if (!capture.frequency_hz) continue;
        const double first_hz = metadata.center_frequency_hz.value_or(*capture.frequency_hz);
        if (*capture.frequency_hz != first_hz)
            root.fail(
                fmt::format("its captures have different frequencies, {} Hz and, from sample {} on, {} Hz: "
                            "make a recording of each",
                            first_hz, capture.start, *capture.frequency_hz));
        metadata.center_frequency_hz = first_hz;
    }
}

std::vector<Capture> read_captures(const std::vector<JsonLocation>& places, std::uint64_t offset,
                                   SigmfMetadata& metadata) {
    std::vector<Capture> captures;
    for (const JsonLocation& place : places) {
        const std::uint64_t said = whole_number(place, "core:sample_start");
        captures.push_back(
            {said - std::min(said, offset), member(place, "core:frequency", &JsonLocation::number)});
        const std::uint64_t bytes = whole_number(place, "core:header_bytes");
        if (bytes > 0) metadata.headers.push_back({captures.back().start, bytes});
    }
    return captures;
}

// However many there are, each warning comes once.
void read_captures(const JsonLocation& root, std::uint64_t offset, SigmfMetadata& metadata) {
    const auto found = root.find("captures");
    if (!found || !found->value().get_if<Json::Array>()) {
        metadata.warnings.emplace_back("the metadata have no list of captures");
        return;
    }
    const auto captures = read_captures(found->elements(), offset, metadata);
    if (captures.empty()) return;
    take_frequency(root, captures, metadata);
    metadata.last_capture_start = std::ranges::max(captures, {}, &Capture::start).start;
    if (!std::ranges::is_sorted(captures, {}, &Capture::start)) {
        if (!metadata.headers.empty())
            root.fail("headers lie between the samples of captures that are not in order of time");
        metadata.warnings.emplace_back("the captures are not in order of time");
    }
    if (captures.size() > 1)
        metadata.warnings.push_back(
            fmt::format("{} captures are read as one; samples may be missing between them", captures.size()));
}

SigmfMetadata read_sigmf(const JsonLocation& root) {
    if (!root.value().find("global")) root.fail("there is no object \"global\"");
    const auto global = root.find("global");
    refuse_unsupported(*global);
    SigmfMetadata metadata;
    read_datatype(*global, metadata);
    metadata.sample_rate_hz = read_sample_rate(*global);
    metadata.symbol_rate_hz = read_symbol_rate(*global);
    metadata.sha512 = text_or_none(*global, "core:sha512");
    metadata.description = text_or_none(*global, "core:description");
    metadata.dataset = read_dataset(*global);
    metadata.trailing_bytes = whole_number(*global, "core:trailing_bytes");
    read_captures(root, whole_number(*global, "core:offset"), metadata);
    return metadata;
}

Json annotations_json(const std::vector<SigmfAnnotation>& annotations) {
    Json all = Json::array();
    for (const SigmfAnnotation& each : annotations) {
        Json one{{"core:sample_start", each.start}};
        if (each.count > 0) one["core:sample_count"] = each.count;
        if (!each.label.empty()) one["core:label"] = each.label;
        if (!each.comment.empty()) one["core:comment"] = each.comment;
        all.push_back(one);
    }
    return all;
}

}  // namespace

SigmfPaths sigmf_paths(const std::filesystem::path& path) {
    const auto extension = path.extension();
    const bool either = extension == ".sigmf-meta" || extension == ".sigmf-data";
    const auto base = either ? path.parent_path() / path.stem() : path;
    return {base.string() + ".sigmf-meta", base.string() + ".sigmf-data"};
}

std::string_view sigmf_datatype(SampleFormat format) {
    for (const auto& datatype : kDatatypes) {
        if (datatype.format == format && datatype.integers.bytes == 0) {
            return datatype.name;
        }
    }
    throw IoError("there is no SigMF datatype for this sample format");
}

SigmfMetadata parse_sigmf(std::string_view text, const std::filesystem::path& origin) {
    try {
        const Json json = parse_json(text, origin.string());
        return read_sigmf(JsonLocation(json, origin.string()));
    } catch (const JsonError& error) {
        throw IoError(fmt::format("unusable SigMF metadata: {}", error.what()));
    }
}

std::vector<std::string> parse_sigmf_collection(std::string_view text, const std::filesystem::path& origin) {
    try {
        const Json json = parse_json(text, origin.string());
        std::vector<std::string> names;
        const JsonLocation collection = JsonLocation(json, origin.string()).at("collection");
        if (const auto streams = collection.find("core:streams"))
            for (const JsonLocation& stream : streams->elements()) names.push_back(stream.at("name").text());
        return names;
    } catch (const JsonError& error) {
        throw IoError(fmt::format("unusable SigMF collection: {}", error.what()));
    }
}

std::string format_sigmf(const SigmfMetadata& metadata) {
    Json capture;
    if (metadata.center_frequency_hz) capture["core:frequency"] = *metadata.center_frequency_hz;
    if (!metadata.datetime.empty()) capture["core:datetime"] = metadata.datetime;
    capture["core:sample_start"] = 0;
    Json global{{"core:datatype", sigmf_datatype(metadata.format)}};
    if (!metadata.description.empty()) global["core:description"] = metadata.description;
    if (metadata.sample_rate_hz) global["core:sample_rate"] = *metadata.sample_rate_hz;
    if (!metadata.sha512.empty()) global["core:sha512"] = metadata.sha512;
    global["core:version"] = "1.2.0";
    if (metadata.symbol_rate_hz) {
        global["core:extensions"] =
            Json::Array{{{"name", "tidemill"}, {"optional", true}, {"version", "1.0.0"}}};
        global[kSymbolRate] = *metadata.symbol_rate_hz;
    }
    const Json root{{"annotations", annotations_json(metadata.annotations)},
                    {"captures", Json::Array{capture}},
                    {"global", global}};
    return to_text(root, 2) + "\n";
}

}  // namespace tidemill::io
