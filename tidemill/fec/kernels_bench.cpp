#include <algorithm>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "tidemill/fec/bb_scrambler.hpp"
#include "tidemill/fec/bch.hpp"
#include "tidemill/fec/bit_packing.hpp"
#include "tidemill/fec/crc8.hpp"
#include "tidemill/fec/ldpc_encoder.hpp"
#include "tidemill/testing/bench.hpp"

namespace {

using namespace tidemill::fec;
using Bytes = std::vector<std::uint8_t>;

const bool kAsked = tidemill::bench::ask(
    {"kernel",
     "How many Mb/s does each kernel take in on one core, of normal frames of rate 3/4, and in how many "
     "cycles a "
     "byte? Beside them those that its loads and stores take, three loads and a store a cycle.",
     "Mb/s"});

const Dvbs2Code& code() {
    return dvbs2_code(FrameSize::normal, CodeRate::r3_4);
}

Bytes random_bytes(int bits) {
    std::mt19937 random(1);
    Bytes bytes(static_cast<std::size_t>(bits / 8));
    std::ranges::generate(bytes, [&] { return static_cast<std::uint8_t>(random()); });
    return bytes;
}

void count_bytes(benchmark::State& state, std::size_t bytes, double least_cycles) {
    tidemill::bench::report_rate(state, 8e-6 * static_cast<double>(bytes));
    tidemill::bench::report_cycles(state, static_cast<double>(bytes), least_cycles);
}

// One table entry a byte.
void bench_crc8(benchmark::State& state) {
    const Bytes packet = random_bytes(8 * 187);
    for (auto _ : state) benchmark::DoNotOptimize(crc8(packet));
    count_bytes(state, packet.size(), 1.0 / 3);
}
BENCHMARK(bench_crc8)->Name("kernel/crc8");

// Vectors of 64 bytes, of which one is stored every second cycle.
void bench_bb_scramble(benchmark::State& state) {
    Bytes frame = random_bytes(code().k_bch);
    for (auto _ : state) {
        bb_scramble(frame);
        benchmark::ClobberMemory();
    }
    count_bytes(state, frame.size(), 2.0 / 64);
}
BENCHMARK(bench_bb_scramble)->Name("kernel/bb_scramble");

void bench_unpack(benchmark::State& state) {
    const Bytes packed = random_bytes(code().n);
    Bytes bits(8 * packed.size());
    for (auto _ : state) {
        unpack_bits(packed, bits);
        benchmark::ClobberMemory();
    }
    count_bytes(state, packed.size(), 8 * 2.0 / 64);
}
BENCHMARK(bench_unpack)->Name("kernel/unpack_bits");

// One row of 192 bits a byte, of three words that are loaded.
void bench_bch_encode(benchmark::State& state) {
    const Bytes frame = random_bytes(code().k_bch);
    Bytes codeword(static_cast<std::size_t>(code().k_ldpc / 8));
    const BchEncoder encoder(code());
    for (auto _ : state) {
        encoder.encode(frame, codeword);
        benchmark::ClobberMemory();
    }
    count_bytes(state, frame.size(), 1);
}
BENCHMARK(bench_bch_encode)->Name("kernel/bch_encode");

void bench_ldpc_encode(benchmark::State& state) {
    const Bytes information = random_bytes(code().k_ldpc);
    Bytes frame(static_cast<std::size_t>(code().n / 8));
    const LdpcEncoder encoder(code());
    for (auto _ : state) {
        encoder.encode(information, frame);
        benchmark::ClobberMemory();
    }
    tidemill::bench::report_rate(state, 8e-6 * static_cast<double>(information.size()));
}
BENCHMARK(bench_ldpc_encode)->Name("kernel/ldpc_encode");

}  // namespace
