#include "tidemill/io/sigmf.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tidemill/io/io_error.hpp"

namespace tidemill::io {
namespace {

using dsp::SampleFormat;
using nlohmann::json;

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

// Reads typed values out of metadata; what has another type is an error that names the key.
class MetadataReader {
  public:
    explicit MetadataReader(const std::filesystem::path& origin) : origin_(origin) {}

    [[noreturn]] void fail(const std::string& what) const {
        throw IoError(fmt::format("unusable SigMF metadata '{}': {}", origin_.string(), what));
    }

    json parse(std::string_view text) const {
        try {
            return json::parse(text);
        } catch (const json::exception& error) {
            fail(fmt::format("not valid JSON ({})", error.what()));
        }
    }

    const json& global_of(const json& root) const {
        if (!root.is_object() || !root.contains("global") || !root["global"].is_object()) {
            fail("there is no object \"global\"");
        }
        return root["global"];
    }

    std::string text(const json& from, const char* key) const {
        if (!from.contains(key)) {
            return {};
        }
        if (!from[key].is_string()) {
            fail(fmt::format("\"{}\" is not a string", key));
        }
        return from[key].get<std::string>();
    }

    std::optional<double> number(const json& from, const char* key) const {
        if (!from.contains(key)) {
            return std::nullopt;
        }
        if (!from[key].is_number()) {
            fail(fmt::format("\"{}\" is not a number", key));
        }
        return from[key].get<double>();
    }

    std::uint64_t count(const json& from, const char* key) const {
        if (!from.contains(key)) {
            return 0;
        }
        if (!from[key].is_number_unsigned()) {
            fail(fmt::format("\"{}\" is not a whole number from 0 on", key));
        }
        return from[key].get<std::uint64_t>();
    }

  private:
    const std::filesystem::path& origin_;
};

SampleFormat read_datatype(const MetadataReader& reader, const json& global) {
    const auto name = reader.text(global, "core:datatype");
    for (const auto& datatype : kDatatypes) {
        if (datatype.name == name) {
            return datatype.format;
        }
    }
    reader.fail(fmt::format(
        "datatype \"{}\" is not supported; supported are cf32, cf64 and ci16 with _le or _be, ci8 and cu8",
        name));
}

std::optional<double> read_sample_rate(const MetadataReader& reader, const json& global) {
    const auto rate_hz = reader.number(global, "core:sample_rate");
    if (rate_hz && !(*rate_hz >= kMinSampleRateHz && *rate_hz <= kMaxSampleRateHz)) {
        reader.fail(fmt::format("a sample rate of {} Hz is not possible; expected {} to {:.0e} Hz", *rate_hz,
                                kMinSampleRateHz, kMaxSampleRateHz));
    }
    return rate_hz;
}

std::string read_dataset(const MetadataReader& reader, const json& global) {
    auto name = reader.text(global, "core:dataset");
    // A data file elsewhere would let a downloaded metadata file point at any file of the reader's.
    if (name.find('/') != std::string::npos || name == "..") {
        reader.fail(fmt::format("\"core:dataset\" is \"{}\"; it must be a file beside the metadata", name));
    }
    return name;
}

void refuse_unsupported(const MetadataReader& reader, const json& global) {
    if (reader.number(global, "core:num_channels").value_or(1) != 1) {
        reader.fail("several channels are interleaved; only one is supported");
    }
    if (reader.number(global, "core:trailing_bytes").value_or(0) != 0) {
        reader.fail("bytes other than samples follow the data (core:trailing_bytes); remove them first");
    }
    if (global.contains("core:metadata_only") && global["core:metadata_only"] == json(true)) {
        reader.fail("it says that there are no data (core:metadata_only)");
    }
}

void read_capture(const MetadataReader& reader, const json& capture, SigmfMetadata& metadata) {
    if (!capture.is_object()) {
        reader.fail("\"captures\" holds something that is not an object");
    }
    if (reader.count(capture, "core:header_bytes") != 0) {
        reader.fail("headers lie between the samples (core:header_bytes); remove them first");
    }
    const auto start = reader.count(capture, "core:sample_start");
    if (start < metadata.last_capture_start) {
        metadata.warnings.emplace_back("the captures are not in order of time");
    }
    metadata.last_capture_start = std::max(start, metadata.last_capture_start);
}

void read_captures(const MetadataReader& reader, const json& root, SigmfMetadata& metadata) {
    if (!root.contains("captures") || !root["captures"].is_array()) {
        metadata.warnings.emplace_back("the metadata have no list of captures");
        return;
    }
    for (const auto& capture : root["captures"]) {
        read_capture(reader, capture, metadata);
    }
    if (!root["captures"].empty()) {
        metadata.center_frequency_hz = reader.number(root["captures"].front(), "core:frequency");
    }
    if (root["captures"].size() > 1) {
        metadata.warnings.push_back(fmt::format(
            "{} captures are read as one; samples may be missing between them", root["captures"].size()));
    }
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
    const MetadataReader reader(origin);
    const json root = reader.parse(text);
    const json& global = reader.global_of(root);
    refuse_unsupported(reader, global);
    SigmfMetadata metadata;
    metadata.format = read_datatype(reader, global);
    metadata.sample_rate_hz = read_sample_rate(reader, global);
    metadata.sha512 = reader.text(global, "core:sha512");
    metadata.description = reader.text(global, "core:description");
    metadata.dataset = read_dataset(reader, global);
    read_captures(reader, root, metadata);
    return metadata;
}

std::string format_sigmf(const SigmfMetadata& metadata) {
    json capture = {{"core:sample_start", 0}};
    if (metadata.center_frequency_hz) {
        capture["core:frequency"] = *metadata.center_frequency_hz;
    }
    json global = {{"core:datatype", sigmf_datatype(metadata.format)}, {"core:version", "1.2.0"}};
    if (metadata.sample_rate_hz) {
        global["core:sample_rate"] = *metadata.sample_rate_hz;
    }
    if (!metadata.sha512.empty()) {
        global["core:sha512"] = metadata.sha512;
    }
    if (!metadata.description.empty()) {
        global["core:description"] = metadata.description;
    }
    const json root = {{"global", global}, {"captures", {capture}}, {"annotations", json::array()}};
    return root.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace tidemill::io
