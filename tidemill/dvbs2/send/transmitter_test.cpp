#include "tidemill/dvbs2/send/transmitter.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dsp/polyphase.hpp"
#include "tidemill/dsp/pulse.hpp"
#include "tidemill/dsp/sample_format.hpp"
#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/send/frame_modulator.hpp"
#include "tidemill/dvbs2/send/pulse_shaper.hpp"
#include "tidemill/dvbs2/standard/pl_header.hpp"
#include "tidemill/io/recordings/recording_reader.hpp"
#include "tidemill/io/transport/ts_file.hpp"

namespace tidemill::dvbs2 {
namespace {

using dsp::Iq;

// Packets whose bytes are those of a small linear congruential generator.
std::vector<std::uint8_t> made_up_packets(std::size_t count) {
    std::vector<std::uint8_t> bytes(count * io::kTsPacketBytes);
    std::uint32_t state = 1;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        state = state * 1664525U + 1013904223U;
        bytes[i] = i % io::kTsPacketBytes == 0 ? io::kTsSyncByte : static_cast<std::uint8_t>(state >> 24);
    }
    return bytes;
}

std::vector<Iq> read_samples(const std::filesystem::path& path) {
    io::RecordingReader reader(io::open_recording(path));
    std::vector<std::byte> bytes(reader.recording().samples * dsp::bytes_per_sample(reader.format()));
    REQUIRE(reader.read(bytes) == bytes.size());
    std::vector<Iq> samples(reader.recording().samples);
    dsp::convert_samples(reader.format(), bytes, samples);
    return samples;
}

// The recording behind a matched filter, at its two samples per symbol.
std::vector<Iq> matched_filter(const std::vector<Iq>& samples, double rolloff) {
    constexpr std::size_t kTaps = 64;
    const dsp::PolyphaseBank bank(kTaps, 1,
                                  [&](double t) { return dsp::root_raised_cosine(t / 2, rolloff) / 2; });
    std::vector<Iq> padded(samples);
    padded.resize(samples.size() + bank.reach());
    std::vector<Iq> filtered(samples.size() - kTaps);
    bank.evaluate(padded, 0.0, 1.0, filtered);
    return filtered;
}

// Every second sample from `begin` against the symbols: how well they match, 1 for equal up to a factor.
double match(std::span<const Iq> samples, std::size_t begin, std::span<const Iq> symbols) {
    std::complex<double> correlation = 0;
    double received = 1e-30;
    double sent = 1e-30;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
        const auto sample = samples[begin + 2 * i];
        correlation += std::complex<double>(sample * std::conj(symbols[i]));
        received += std::norm(sample);
        sent += std::norm(symbols[i]);
    }
    return std::norm(correlation) / (received * sent);
}

double evm_db(double match) {
    return 10.0 * std::log10(std::max(1e-12, 1.0 - match));
}

std::size_t find_begin(std::span<const Iq> samples, std::span<const Iq> header) {
    std::size_t best = 0;
    for (std::size_t begin = 1; begin < 4000; ++begin) {
        if (match(samples, begin, header) > match(samples, best, header)) {
            best = begin;
        }
    }
    return best;
}

TransmitterConfig config_of(const Pls& pls) {
    TransmitterConfig config;
    config.pls = pls;
    return config;
}

std::vector<Iq> modulated(const TransmitterConfig& config, std::span<const std::uint8_t> packets) {
    Transmitter transmitter(config);
    std::vector<Iq> symbols;
    transmitter.modulate(packets, symbols);
    return symbols;
}

// FNV-1a over the symbols in steps of 1/100.
std::uint64_t fingerprint(std::span<const Iq> symbols) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const auto symbol : symbols) {
        for (const float part : {symbol.real(), symbol.imag()}) {
            hash = (hash ^ static_cast<std::uint64_t>(std::lround(100.0F * part) & 0xffff)) * 0x100000001b3U;
        }
    }
    return hash;
}

struct Carried {
    std::string recording;
    std::string ts;
    Pls pls;
};

const std::vector<Carried> kCleanRecordings = {
    {"qpsk_8-9_short_pil_clean", "qpsk_8-9_short", {10, FrameSize::short_, true}},
    {"qpsk_1-2_normal_pil_clean", "qpsk_1-2_normal", {4, FrameSize::normal, true}},
    {"32apsk_3-4_short_pil_clean", "32apsk_3-4_short", {24, FrameSize::short_, true}}};

// The EVM of each frame of a recording against what this transmitter makes of the packets it carries.
std::vector<double> frame_evms_db(const std::filesystem::path& folder, const Carried& carried) {
    const auto symbols =
        modulated(config_of(carried.pls), io::read_ts_file(folder / (carried.ts + ".ts")).bytes);
    const auto samples = matched_filter(read_samples(folder / (carried.recording + ".sigmf-meta")), 0.20);
    const auto begin = find_begin(samples, std::span(symbols).first(kHeaderSymbols));
    const auto frame_symbols = static_cast<std::size_t>(layout_of(carried.pls).symbols);
    std::vector<double> evms_db;
    for (std::size_t at = 0; at < symbols.size(); at += frame_symbols) {
        evms_db.push_back(
            evm_db(match(samples, begin + 2 * at, std::span(symbols).subspan(at, frame_symbols))));
    }
    return evms_db;
}

}  // namespace

TEST_CASE("transmitter: its frames are those in clean recordings of another transmitter") {
    const char* folder = std::getenv("TIDEMILL_TEST_DATA");
    if (folder == nullptr) {
        MESSAGE("skipped: TIDEMILL_TEST_DATA does not name the folder of the recordings");
        return;
    }
    for (const auto& carried : kCleanRecordings) {
        CAPTURE(carried.recording);
        const auto evms_db = frame_evms_db(std::filesystem::path(folder) / "iq", carried);
        CHECK(evms_db.size() == (carried.pls.size == FrameSize::normal ? 37 : 117));
        CHECK(*std::ranges::max_element(evms_db) < -38.0);
    }
}

TEST_CASE(
    "transmitter: made-up packets give the symbols that this code gave when it matched the recordings") {
    const auto packets = made_up_packets(200);
    const std::vector<std::uint64_t> expected = {12590236556197166859U, 9758891577174675535U,
                                                 958894670460387046U};
    for (std::size_t i = 0; i < kCleanRecordings.size(); ++i) {
        CAPTURE(kCleanRecordings[i].recording);
        CHECK(fingerprint(modulated(config_of(kCleanRecordings[i].pls), packets)) == expected[i]);
    }
}

TEST_CASE("transmitter: samples have mean power 1, and a matched filter gives the symbols back") {
    const auto packets = made_up_packets(60);
    for (const double rolloff : {0.35, 0.25, 0.20}) {
        auto config = config_of({13, FrameSize::short_, false});
        config.rolloff = rolloff;
        Transmitter transmitter(config);
        std::vector<Iq> samples;
        transmitter.transmit(std::span(packets).first(50 * io::kTsPacketBytes), samples);
        transmitter.transmit(std::span(packets).subspan(50 * io::kTsPacketBytes), samples);
        transmitter.finish(samples);
        const auto symbols = modulated(config, packets);
        double power = 0;
        for (const auto sample : samples) {
            power += std::norm(sample);
        }
        CHECK(power / static_cast<double>(samples.size()) == doctest::Approx(1.0).epsilon(0.02));
        // The filter's first output stands 31 samples behind the input's first.
        const std::size_t begin = 2 * PulseShaper::kReachSymbols - 31;
        CHECK(evm_db(match(matched_filter(samples, rolloff), begin, symbols)) < -45.0);
    }
}

TEST_CASE("transmitter: the last packets leave in a padded frame") {
    Transmitter transmitter(config_of({4, FrameSize::normal, true}));
    std::vector<Iq> samples;
    transmitter.transmit(made_up_packets(1), samples);
    CHECK(transmitter.frames() == 0);
    transmitter.finish(samples);
    CHECK(transmitter.frames() == 1);
    CHECK(samples.size() >= 2 * transmitter.modulator().plframe_symbols());
}

TEST_CASE("transmitter: settings that cannot be sent are refused") {
    const auto refused = [](auto change) {
        auto config = config_of({4, FrameSize::normal, true});
        change(config);
        CHECK_THROWS_AS(Transmitter{config}, Dvbs2Error);
    };
    refused([](auto& config) { config.pls.modcod = 0; });
    refused([](auto& config) { config.pls.modcod = 29; });
    refused([](auto& config) { config.pls = {11, FrameSize::short_, false}; });
    refused([](auto& config) { config.gold_code = -1; });
    refused([](auto& config) { config.rolloff = 0.3; });
    refused([](auto& config) { config.samples_per_symbol = 0; });
}

}  // namespace tidemill::dvbs2
