#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/dvbs2/receiver/testing/front_symbols.hpp"

namespace tidemill::dvbs2 {
namespace {

using Json = nlohmann::json;
using Wide = std::complex<double>;

std::vector<Iq> read_samples(const std::string& path, const std::string& datatype) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
    const auto format = datatype == "ci8" ? dsp::SampleFormat::ci8 : dsp::SampleFormat::ci16;
    std::vector<Iq> samples(bytes.size() / dsp::bytes_per_sample(format));
    dsp::convert_samples(format, std::as_bytes(std::span(bytes)), samples);
    return samples;
}

// EN 302 307-1, 5.5: slots of 90 symbols, a header slot, and 36 pilots after every 16 slots but the last.
std::size_t frame_symbols(const Json& recording) {
    const std::size_t bits = recording["fecframe"] == "short" ? 16200 : 64800;
    const std::string modulation = recording["modulation"];
    const std::size_t per_symbol = modulation == "QPSK"     ? 2
                                   : modulation == "8PSK"   ? 3
                                   : modulation == "16APSK" ? 4
                                                            : 5;
    const std::size_t slots = bits / per_symbol / 90;
    return 90 * (slots + 1) + (recording["pilots"] ? 36 * ((slots - 1) / 16) : 0);
}

// Turns from symbol to symbol inside the start-of-frame word 0x18D2E82 (EN 302 307-1, 5.5.2.1).
std::vector<Wide> start_of_frame_turns() {
    constexpr unsigned kWord = 0x18D2E82;
    std::vector<Wide> turns;
    for (int i = 0; i < 25; ++i) {
        const bool flips = ((kWord >> (25 - i)) ^ (kWord >> (24 - i))) & 1U;
        turns.push_back(Wide(0.0, (i % 2 == 0) != flips ? 1.0 : -1.0));
    }
    return turns;
}

// Folds the stream at the frame length and returns the highest mean likeness to a start of frame; it falls
// apart as soon as one symbol is lost or doubled.
double folded_likeness(std::span<const Iq> symbols, std::size_t period) {
    const std::vector<Wide> turns = start_of_frame_turns();
    std::vector<Wide> sums(period);
    std::vector<double> scales(period, 1e-30);
    std::vector<Wide> products;
    for (std::size_t n = 0; n + 1 < symbols.size(); ++n) {
        products.push_back(Wide(symbols[n + 1]) * std::conj(Wide(symbols[n])));
    }
    for (std::size_t n = 0; n + turns.size() < products.size(); ++n) {
        Wide sum{};
        for (std::size_t i = 0; i < turns.size(); ++i) sum += products[n + i] * std::conj(turns[i]);
        sums[n % period] += sum;
        scales[n % period] += turns.size();
    }
    double best = 0.0;
    for (std::size_t p = 0; p < period; ++p) best = std::max(best, std::abs(sums[p]) / scales[p]);
    return best;
}

void check_recording(const std::string& folder, const Json& recording) {
    const std::string name = recording["recording"];
    CAPTURE(name);
    const Json meta = Json::parse(std::ifstream(folder + name));
    const std::string data = name.substr(0, name.rfind("-meta")) + "-data";
    const std::string datatype = meta["global"]["core:datatype"].get<std::string>();
    const std::vector<Iq> samples = read_samples(folder + data, datatype.substr(0, datatype.find('_')));
    REQUIRE(samples.size() > 100000);

    const auto made = internal::front_symbols({2.0, 1.0, recording["rolloff"]}, samples);
    const Json& impairments = recording["impairments"];
    const double cfo = impairments.value("cfo", 0.0);
    const double drift = impairments.value("drift", 0.0) * static_cast<double>(made.symbols.size());
    const double sense = recording["inverted"] ? -1.0 : 1.0;
    CHECK(made.restarts == 1);
    CHECK(made.dropped_blocks <= 1);
    CHECK(std::abs(made.frequency - sense * (cfo + drift)) < 0.004);
    CHECK(std::abs(made.clock_ppm - impairments.value("ppm", 0.0)) < 1.0);
    // Dummy frames have another length and would shift what is folded.
    if (!recording["dummy_frames"].empty()) return;
    CHECK(folded_likeness(made.symbols, frame_symbols(recording)) > 0.8);
}

}  // namespace

TEST_CASE("front: every recording comes out whole, with its frequency and its clock") {
    const char* root = std::getenv("TIDEMILL_TEST_DATA");
    if (root == nullptr) {
        MESSAGE("skipped: TIDEMILL_TEST_DATA is not set");
        return;
    }
    const std::string folder = std::string(root) + "/iq/";
    const Json manifest = Json::parse(std::ifstream(folder + "manifest.json"));
    for (const Json& recording : manifest["recordings"]) check_recording(folder, recording);
}

}  // namespace tidemill::dvbs2
