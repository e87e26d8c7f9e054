#include "bindings/recording_binding.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/interpreter.hpp"
#include "bindings/owned_array.hpp"
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "tidemill/io/recordings/recording_reader.hpp"
#include "tidemill/io/recordings/sample_format_name.hpp"

namespace tidemill::python {

namespace {

using nb::literals::operator""_a;

std::vector<dsp::Iq> read_from(io::RecordingReader& reader, std::uint64_t first, std::uint64_t count) {
    const std::uint64_t there = reader.recording().samples;
    const std::uint64_t begin = std::min(first, there);
    std::vector<dsp::Iq> samples(std::min(count, there - begin));
    std::vector<std::byte> bytes(samples.size() * dsp::bytes_per_sample(reader.format()));
    reader.seek(begin);
    bytes.resize(samples.empty() ? 0 : reader.read(bytes));
    samples.resize(bytes.size() / dsp::bytes_per_sample(reader.format()));
    dsp::convert_samples(reader.format(), bytes, samples);
    return samples;
}

// Samples, their rate, the frequency in their middle, and how many there are in all.
nb::tuple read_samples(const std::filesystem::path& path, const std::optional<std::string>& format,
                       std::optional<double> sample_rate_hz, std::uint64_t first, std::uint64_t count) {
    io::RecordingHints hints;
    hints.sample_rate_hz = sample_rate_hz;
    if (format) hints.format = cli::sample_format_of(*format);
    std::vector<dsp::Iq> samples;
    io::Recording recording;
    {
        const Unlocked unlocked;
        io::RecordingReader reader(io::open_recording(path, hints));
        samples = read_from(reader, first, count);
        recording = reader.recording();
    }
    return nb::make_tuple(owned_array(std::move(samples), NPY_COMPLEX64), recording.sample_rate_hz,
                          recording.center_frequency_hz, recording.samples);
}

}  // namespace

void bind_recordings(nb::module_& module) {
    module.def("read_samples", &read_samples, "path"_a, nb::kw_only(), "format"_a.none(),
               "sample_rate_hz"_a.none(), "first"_a, "count"_a);
}

}  // namespace tidemill::python
