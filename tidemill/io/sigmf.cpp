#include "tidemill/io/sigmf.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"
#include "tidemill/json/json_error.hpp"
#include "tidemill/json/json_place.hpp"

namespace tidemill::io {
namespace {

using dsp::SampleFormat;

constexpr double kMinSampleRateHz = 1;
constexpr double kMaxSampleRateHz = 1e11;

struct NamedFormat {
    std::string_view name;
    SampleFormat format;
};

constexpr std::array<NamedFormat, 8> kDatatypes = {{{"cf32_le", SampleFormat::cf32},
                                                    {"ci16_le", SampleFormat::ci16},
                                                    {"ci8", SampleFormat::ci8},
                                                    {"cu8", SampleFormat::cu8},
                                                    {"cf64_le", SampleFormat::cf64},
                                                    {"cf32_be", SampleFormat::cf32_be},
                                                    {"ci16_be", SampleFormat::ci16_be},
                                                    {"cf64_be", SampleFormat::cf64_be}}};

template <typename Value>
std::optional<Value> member(const JsonPlace& object, std::string_view name,
                            Value (JsonPlace::*read)() const) {
    const auto found = object.find(name);
    return found ? std::optional((*found.*read)()) : std::nullopt;
}

std::string text_or_none(const JsonPlace& object, std::string_view name) {
    return member(object, name, &JsonPlace::text).value_or("");
}

SampleFormat read_datatype(const JsonPlace& global) {
    const std::string name = text_or_none(global, "core:datatype");
    const auto found = std::ranges::find(kDatatypes, name, &NamedFormat::name);
    if (found == kDatatypes.end())
        global.fail(
            fmt::format("datatype \"{}\" is not supported; supported are cf32, cf64 and ci16 with _le or "
                        "_be, ci8 and cu8",
                        name));
    return found->format;
}

std::optional<double> read_sample_rate(const JsonPlace& global) {
    const auto rate_hz = member(global, "core:sample_rate", &JsonPlace::number);
    if (rate_hz && !(*rate_hz >= kMinSampleRateHz && *rate_hz <= kMaxSampleRateHz))
        global.fail(fmt::format("a sample rate of {} Hz is not possible; expected {} to {:.0e} Hz", *rate_hz,
                                kMinSampleRateHz, kMaxSampleRateHz));
    return rate_hz;
}

std::string read_dataset(const JsonPlace& global) {
    auto name = text_or_none(global, "core:dataset");
    // A data file elsewhere would let a downloaded metadata file point at any file of the reader's.
    if (name.find('/') != std::string::npos || name == "..")
        global.fail(fmt::format("\"core:dataset\" is \"{}\"; it must be a file beside the metadata", name));
    return name;
}

void refuse_unsupported(const JsonPlace& global) {
    if (member(global, "core:num_channels", &JsonPlace::number).value_or(1) != 1)
        global.fail("several channels are interleaved; only one is supported");
    if (member(global, "core:trailing_bytes", &JsonPlace::number).value_or(0) != 0)
        global.fail("bytes other than samples follow the data (core:trailing_bytes); remove them first");
    if (member(global, "core:metadata_only", &JsonPlace::flag).value_or(false))
        global.fail("it says that there are no data (core:metadata_only)");
}

std::uint64_t capture_start(const JsonPlace& capture) {
    if (member(capture, "core:header_bytes", &JsonPlace::count).value_or(0) != 0)
        capture.fail("headers lie between the samples (core:header_bytes); remove them first");
    return member(capture, "core:sample_start", &JsonPlace::count).value_or(0);
}

// However many there are, each warning comes once.
void read_captures(const JsonPlace& root, SigmfMetadata& metadata) {
    const auto found = root.find("captures");
    if (!found || !found->value().get_if<Json::Array>()) {
        metadata.warnings.emplace_back("the metadata have no list of captures");
        return;
    }
    const auto captures = found->elements();
    std::vector<std::uint64_t> starts;
    for (const JsonPlace& capture : captures) starts.push_back(capture_start(capture));
    if (captures.empty()) return;
    metadata.center_frequency_hz = member(captures.front(), "core:frequency", &JsonPlace::number);
    metadata.last_capture_start = *std::ranges::max_element(starts);
    if (!std::ranges::is_sorted(starts))
        metadata.warnings.emplace_back("the captures are not in order of time");
    if (captures.size() > 1)
        metadata.warnings.push_back(
            fmt::format("{} captures are read as one; samples may be missing between them", captures.size()));
}

SigmfMetadata read_sigmf(const JsonPlace& root) {
    if (!root.value().find("global")) root.fail("there is no object \"global\"");
    const auto global = root.find("global");
    refuse_unsupported(*global);
    SigmfMetadata metadata;
    metadata.format = read_datatype(*global);
    metadata.sample_rate_hz = read_sample_rate(*global);
    metadata.sha512 = text_or_none(*global, "core:sha512");
    metadata.description = text_or_none(*global, "core:description");
    metadata.dataset = read_dataset(*global);
    read_captures(root, metadata);
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
        if (datatype.format == format) {
            return datatype.name;
        }
    }
    throw IoError("there is no SigMF datatype for this sample format");
}

SigmfMetadata parse_sigmf(std::string_view text, const std::filesystem::path& origin) {
    try {
        const Json json = parse_json(text, origin.string());
        return read_sigmf(JsonPlace(json, origin.string()));
    } catch (const JsonError& error) {
        throw IoError(fmt::format("unusable SigMF metadata: {}", error.what()));
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
    const Json root{{"annotations", annotations_json(metadata.annotations)},
                    {"captures", Json::Array{capture}},
                    {"global", global}};
    return to_text(root, 2) + "\n";
}

}  // namespace tidemill::io
