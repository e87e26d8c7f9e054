#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tidemill/dvbs2/carrier/carrier.hpp"
#include "tidemill/dvbs2/carrier/demapper.hpp"
#include "tidemill/dvbs2/carrier/noise.hpp"
#include "tidemill/dvbs2/receiver/testing/front_symbols.hpp"
#include "tidemill/fec/bch.hpp"
#include "tidemill/fec/ldpc_decoder.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr int kDecodeEvery = 5;  // the decoder has tests of its own, and takes most of the time

nlohmann::json read_json(const std::string& path) {
    std::ifstream file(path);
    return nlohmann::json::parse(file);
}

template <class Integer>
std::vector<Iq> read_samples(const std::string& path, float full_scale) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> raw{std::istreambuf_iterator<char>(file), {}};
    const auto* values = reinterpret_cast<const Integer*>(raw.data());
    std::vector<Iq> samples;
    for (std::size_t i = 0; 2 * (i + 1) * sizeof(Integer) <= raw.size(); ++i) {
        samples.emplace_back(static_cast<float>(values[2 * i]) / full_scale,
                             static_cast<float>(values[2 * i + 1]) / full_scale);
    }
    return samples;
}

std::vector<Iq> symbols_of(const std::string& folder, const std::string& recording, double rolloff) {
    const auto meta = read_json(folder + recording);
    const std::string data = folder + recording.substr(0, recording.size() - 4) + "data";
    const bool narrow = meta["global"]["core:datatype"] == "ci8";
    const auto samples =
        narrow ? read_samples<std::int8_t>(data, 127) : read_samples<std::int16_t>(data, 32767);
    return internal::front_symbols({.rolloff = rolloff}, samples).symbols;
}

struct Received {
    int frames = 0;
    int dummy_frames = 0;
    int other_modcods = 0;
    int bad_frames = 0;  // of those decoded
    double signal = 0;
    double noise = 0;
};

bool decodes(const Modcod& modcod, const FrameInfo& info, std::span<const Iq> data,
             const SignalQuality& quality) {
    const auto& code = fec::dvbs2_code(info.pls.size, modcod.rate);
    std::vector<fec::Llr> llrs(static_cast<std::size_t>(code.n));
    demap(data, modcod, quality, static_cast<float>(fec::llr_scale(code)), llrs);
    std::vector<std::uint8_t> bits(static_cast<std::size_t>(code.k_ldpc) / 8);
    fec::LdpcDecoder(code).decode(llrs, bits);
    return fec::BchDecoder(code).decode(bits).ok;
}

Received receive(const std::vector<Iq>& symbols, int gold_code, int expected_modcod) {
    const PlScrambler scrambler(gold_code);
    FrameSync sync(scrambler);
    Carrier carrier(scrambler);
    CarrierTrack track;
    std::vector<Iq> frame(kFrameBufferSymbols), data(kMaxDataSymbols), known(kMaxKnownSymbols);
    Received received;
    sync.push(symbols);
    sync.flush();
    while (const auto info = sync.pop(frame)) {
        const Modcod* modcod = find_modcod(info->pls.modcod);
        if (modcod == nullptr) {
            ++received.dummy_frames;
            continue;
        }
        carrier.estimate(frame, *info, track);
        const auto counts = carrier.remove(frame, *info, track, data, known);
        const auto payload = std::span<const Iq>(data).first(counts.data);
        const auto quality =
            quality_of_frame(info->pls, payload, std::span<const Iq>(known).first(counts.known));
        received.signal += std::pow(quality.amplitude, 2);
        received.noise += quality.noise_variance;
        received.other_modcods += modcod->number == expected_modcod ? 0 : 1;
        const bool tried = received.frames++ % kDecodeEvery == 0;
        received.bad_frames += tried && !decodes(*modcod, *info, payload, quality) ? 1 : 0;
    }
    return received;
}

TEST_CASE("recordings: every frame is found and decodes, and Es/N0 is right within 0.5 dB") {
    const char* root = std::getenv("TIDEMILL_TEST_DATA");
    if (root == nullptr) {
        MESSAGE("skipped: TIDEMILL_TEST_DATA does not name a folder with recordings");
        return;
    }
    const std::string folder = std::string(root) + "/iq/";
    const auto manifest = read_json(folder + "manifest.json");
    for (const auto& row : manifest["recordings"]) {
        const std::string name = row["recording"];
        CAPTURE(name);
        const auto symbols = symbols_of(folder, name, row["rolloff"]);
        const Received received = receive(symbols, row["gold_code"], row["modcod"]);
        const int whole_frames = row["plframes"].get<int>() - (row["cut_samples"] > 0 ? 1 : 0);
        CHECK(received.frames == whole_frames);
        CHECK(received.dummy_frames == static_cast<int>(row["dummy_frames"].size()));
        CHECK(received.other_modcods == 0);
        CHECK(received.bad_frames == 0);
        if (row["impairments"].contains("esn0")) {
            const double esn0_db = 10 * std::log10(received.signal / received.noise);
            CHECK(std::abs(esn0_db - row["impairments"]["esn0"].get<double>()) < 0.5);
        }
    }
}

}  // namespace
}  // namespace tidemill::dvbs2
