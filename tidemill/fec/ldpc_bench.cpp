#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "tidemill/fec/bit_packing.hpp"
#include "tidemill/fec/ldpc_decoder.hpp"
#include "tidemill/fec/ldpc_encoder.hpp"
#include "tidemill/fec/testing/ldpc_graph.hpp"
#include "tidemill/fec/testing/ldpc_scalar.hpp"
#include "tidemill/testing/bench.hpp"

namespace {

using namespace tidemill::fec;
using Bytes = std::vector<std::uint8_t>;

const bool kAsked =
    tidemill::bench::ask({"ldpc/ten_iterations",
                          "How many coded Mb/s does one core decode of 1024 different frames at ten "
                          "iterations, those by min-sum and "
                          "those by sum-product as they come, and in how many cycles an edge of the code's "
                          "graph, beside the least "
                          "that one takes?",
                          "Mb/s", "a plain loop, by min-sum alone"}) &&
    tidemill::bench::ask({"ldpc/operating_point",
                          "How many coded Mb/s does one core decode at the operating point, and in how many "
                          "iterations?",
                          "Mb/s"});

struct Frame {
    Bytes information;
    std::vector<Llr> llrs;
};

// QPSK over white noise, as an ideal demapper hands it over.
Frame noisy_frame(const Dvbs2Code& code, double esn0_db, std::mt19937& random) {
    Frame frame{Bytes(static_cast<std::size_t>(code.k_ldpc / 8)), {}};
    std::ranges::generate(frame.information, [&] { return static_cast<std::uint8_t>(random()); });
    Bytes fecframe(static_cast<std::size_t>(code.n / 8));
    LdpcEncoder(code).encode(frame.information, fecframe);
    Bytes bits(static_cast<std::size_t>(code.n));
    unpack_bits(fecframe, bits);
    const double variance = 1 / std::pow(10.0, esn0_db / 10);
    std::normal_distribution<double> noise(0, std::sqrt(variance));
    for (const std::uint8_t bit : bits) {
        const double llr = std::round(llr_scale(code) * 2 * ((bit ? -1 : 1) + noise(random)) / variance);
        frame.llrs.push_back(static_cast<Llr>(std::clamp(llr, -127.0, 127.0)));
    }
    return frame;
}

struct Case {
    FrameSize frame_size;
    CodeRate rate;
    double esn0_db;  // table 13 of EN 302 307-1 plus 0.2 dB; short frames plus 0.5 dB
};

constexpr Case kCases[] = {{FrameSize::normal, CodeRate::r1_2, 1.2},
                           {FrameSize::normal, CodeRate::r3_4, 4.23},
                           {FrameSize::normal, CodeRate::r9_10, 6.62},
                           {FrameSize::short_, CodeRate::r8_9, 6.7}};

const Case& case_of(const benchmark::State& state) {
    return kCases[state.range(0)];
}

std::string label_of(const Dvbs2Code& code) {
    return std::string(name(code.frame_size)) + " " + std::string(name(code.rate));
}

// One behind the other, as they come from a demapper.
struct Frames {
    Bytes information;
    std::vector<Llr> llrs;
};

Frames noisy_frames(const Dvbs2Code& code, double esn0_db, std::size_t count) {
    std::mt19937 random(1);
    Frames all;
    for (std::size_t i = 0; i < count; ++i) {
        const Frame frame = noisy_frame(code, esn0_db, random);
        all.information.insert(all.information.end(), frame.information.begin(), frame.information.end());
        all.llrs.insert(all.llrs.end(), frame.llrs.begin(), frame.llrs.end());
    }
    return all;
}

void ten_iterations(benchmark::State& state) {
    constexpr std::size_t kFrames = 1024, kPlain = 8;
    const Dvbs2Code& code = dvbs2_code(case_of(state).frame_size, case_of(state).rate);
    const auto n = static_cast<std::size_t>(code.n), bytes = static_cast<std::size_t>(code.k_ldpc / 8);
    const Frames frames = noisy_frames(code, case_of(state).esn0_db + 1.5, kFrames);
    LdpcDecoder decoder(code, {.max_iterations = 10, .stop_early = false});
    ScalarLdpcDecoder plain_loop(code);
    Bytes decoded(frames.information.size()), plain(kPlain * bytes);
    const auto llrs_of = [&](std::size_t i) { return std::span(frames.llrs).subspan(i * n, n); };
    const auto decode_all = [&] {
        for (std::size_t i = 0; i < kFrames; ++i)
            decoder.decode(llrs_of(i), std::span(decoded).subspan(i * bytes, bytes));
    };
    decode_all();
    if (decoded != frames.information) return state.SkipWithError("the decoder is wrong");
    const double plain_seconds = tidemill::bench::cpu_seconds([&] {
        for (std::size_t i = 0; i < kPlain; ++i)
            plain_loop.decode(llrs_of(i), 10, std::span(plain).subspan(i * bytes, bytes));
    });
    if (!std::equal(plain.begin(), plain.end(), frames.information.begin()))
        return state.SkipWithError("the plain loop is wrong");
    const double total_seconds = tidemill::bench::cpu_seconds([&] {
        for (auto _ : state) decode_all();
    });
    const double seconds = total_seconds / static_cast<double>(state.iterations() * kFrames);
    state.SetLabel(label_of(code));
    state.counters["ours"] = 1e-6 * code.n / seconds;
    state.counters["baseline"] = 1e-6 * code.n * kPlain / plain_seconds;
    state.counters["ratio"] = plain_seconds / kPlain / seconds;
    const double edges = kFrames * 10 * static_cast<double>(LdpcGraph(code).bits.size());
    tidemill::bench::report_cycles(state, edges, 0);
}

void operating_point(benchmark::State& state) {
    const Dvbs2Code& code = dvbs2_code(case_of(state).frame_size, case_of(state).rate);
    std::mt19937 random(2);
    std::vector<Frame> frames;
    for (int i = 0; i < 20; ++i) frames.push_back(noisy_frame(code, case_of(state).esn0_db, random));
    LdpcDecoder decoder(code);
    Bytes decoded(frames.front().information.size());
    double iterations = 0;
    for (const Frame& frame : frames) {
        iterations += decoder.decode(frame.llrs, decoded).iterations;
        if (decoded != frame.information) return state.SkipWithError("a frame came out wrong");
    }
    std::size_t next = 0;
    for (auto _ : state) decoder.decode(frames[next++ % frames.size()].llrs, decoded);
    state.SetLabel(label_of(code));
    tidemill::bench::report_rate(state, 1e-6 * code.n);
    state.counters["mean_iterations"] = iterations / static_cast<double>(frames.size());
}

BENCHMARK(ten_iterations)->Name("ldpc/ten_iterations")->DenseRange(0, 3)->Unit(benchmark::kMillisecond);
BENCHMARK(operating_point)->Name("ldpc/operating_point")->DenseRange(0, 3)->Unit(benchmark::kMicrosecond);

}  // namespace
