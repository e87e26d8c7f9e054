#include <algorithm>
#include <cmath>
#include <ctime>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "tidemill/fec/bit_packing.hpp"
#include "tidemill/fec/detail_ldpc_kernel.hpp"
#include "tidemill/fec/detail_ldpc_layers.hpp"
#include "tidemill/fec/ldpc_decoder.hpp"
#include "tidemill/fec/ldpc_encoder.hpp"
#include "tidemill/testing/bench.hpp"

namespace {

using namespace tidemill::fec;
using Bytes = std::vector<std::uint8_t>;

const bool kAsked =
    tidemill::bench::ask(
        {"ldpc/ten_iterations",
         "How many coded Mb/s does one core decode at ten iterations, and in how many cycles "
         "an edge of the code's graph, beside the least that one takes?",
         "Mb/s", "scalar loop"}) &&
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

// One check after the other, in 8-bit integers: what a decoder without vectors does.
class ScalarDecoder {
  public:
    explicit ScalarDecoder(const Dvbs2Code& code) : code_(code), first_{0} {
        const LdpcLayers layers(code);
        for (int layer = 0; layer < code.q(); ++layer) {
            for (int lane = 0; lane < kCirculantSize; ++lane) {
                const int check = layer + code.q() * lane;
                for (const Circulant& circulant : layers[layer]) {
                    const int bit = (lane - circulant.shift + kCirculantSize) % kCirculantSize;
                    bits_.push_back(kCirculantSize * circulant.column + bit);
                }
                bits_.push_back(code.k_ldpc + check);
                if (check > 0) bits_.push_back(code.k_ldpc + check - 1);
                first_.push_back(bits_.size());
            }
        }
        messages_.resize(bits_.size());
    }

    void decode(const std::vector<Llr>& llrs, int iterations, Bytes& information) {
        posterior_.assign(llrs.begin(), llrs.end());
        std::ranges::fill(messages_, std::int8_t{0});
        for (int i = 0; i < iterations; ++i) {
            for (std::size_t check = 0; check + 1 < first_.size(); ++check)
                update(first_[check], first_[check + 1]);
        }
        Bytes bits(static_cast<std::size_t>(code_.k_ldpc));
        for (std::size_t bit = 0; bit < bits.size(); ++bit) bits[bit] = posterior_[bit] < 0;
        pack_bits(bits, information);
    }

  private:
    void update(std::size_t begin, std::size_t end) {
        int min1 = kLdpcMagnitudeCap;
        int min2 = kLdpcMagnitudeCap;
        bool negative = false;
        for (std::size_t e = begin; e < end; ++e) {
            const int extrinsic = std::clamp(posterior_[index(e)] - messages_[e], -128, 127);
            const int magnitude = std::abs(extrinsic);
            min2 = std::min(min2, std::max(min1, magnitude));
            min1 = std::min(min1, magnitude);
            negative ^= extrinsic < 0;
        }
        for (std::size_t e = begin; e < end; ++e) {
            const int extrinsic = std::clamp(posterior_[index(e)] - messages_[e], -128, 127);
            const int magnitude = std::max((std::abs(extrinsic) == min1 ? min2 : min1) - kLdpcOffset, 0);
            const int message = negative != (extrinsic < 0) ? -magnitude : magnitude;
            messages_[e] = static_cast<std::int8_t>(message);
            posterior_[index(e)] = static_cast<std::int8_t>(std::clamp(extrinsic + message, -128, 127));
        }
    }

    std::size_t index(std::size_t edge) const { return static_cast<std::size_t>(bits_[edge]); }

    Dvbs2Code code_;
    std::vector<int> bits_;
    std::vector<std::size_t> first_;
    std::vector<std::int8_t> messages_;
    std::vector<std::int8_t> posterior_;
};

// Of this process alone: neighbours on a shared machine must not enter the ratio.
double cpu_seconds(auto&& work) {
    const std::clock_t begin = std::clock();
    work();
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
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

// Of the graph: the information's, and two for each bit of parity.
double edges_of(const Dvbs2Code& code) {
    const LdpcLayers layers(code);
    std::size_t circulants = 0;
    for (int layer = 0; layer < layers.size(); ++layer) circulants += layers[layer].size();
    return static_cast<double>(kCirculantSize) * static_cast<double>(circulants) + 2.0 * code.ldpc_parity();
}

// Nine instructions for 64 edges, of which the processor does one a cycle, or two for 32: extrinsic value,
// sign, magnitude, the two least of them, message and sum.
constexpr double kLeastCycles = 9.0 / 64;

void ten_iterations(benchmark::State& state) {
    const Dvbs2Code& code = dvbs2_code(case_of(state).frame_size, case_of(state).rate);
    std::mt19937 random(1);
    const Frame frame = noisy_frame(code, case_of(state).esn0_db + 1.5, random);
    LdpcDecoder decoder(code, {.max_iterations = 10, .stop_early = false});
    ScalarDecoder scalar(code);
    Bytes decoded(frame.information.size());
    const double scalar_seconds = cpu_seconds([&] { scalar.decode(frame.llrs, 10, decoded); });
    if (decoded != frame.information) return state.SkipWithError("the scalar decoder is wrong");
    decoder.decode(frame.llrs, decoded);
    if (decoded != frame.information) return state.SkipWithError("the decoder is wrong");
    const double total_seconds = cpu_seconds([&] {
        for (auto _ : state) decoder.decode(frame.llrs, decoded);
    });
    const double seconds = total_seconds / static_cast<double>(state.iterations());
    state.SetLabel(label_of(code));
    state.counters["ours"] = 1e-6 * code.n / seconds;
    state.counters["baseline"] = 1e-6 * code.n / scalar_seconds;
    state.counters["ratio"] = scalar_seconds / seconds;
    tidemill::bench::report_cycles(state, 10 * edges_of(code), kLeastCycles);
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

BENCHMARK(ten_iterations)->Name("ldpc/ten_iterations")->DenseRange(0, 3)->Unit(benchmark::kMicrosecond);
BENCHMARK(operating_point)->Name("ldpc/operating_point")->DenseRange(0, 3)->Unit(benchmark::kMicrosecond);

}  // namespace
