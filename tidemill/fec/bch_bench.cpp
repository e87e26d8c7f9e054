#include <algorithm>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "tidemill/fec/bch.hpp"
#include "tidemill/testing/bench.hpp"

namespace {

using namespace tidemill::fec;
using Bytes = std::vector<std::uint8_t>;

const bool kAsked = tidemill::bench::ask({"bch",
                                          "How long does the outer code take per frame: without errors, with "
                                          "a few, and with as many as it corrects?",
                                          "us a frame", "bit-by-bit division"});

const Dvbs2Code& code_of(const benchmark::State& state) {
    return state.range(0) == 0 ? dvbs2_code(FrameSize::short_, CodeRate::r8_9)
                               : dvbs2_code(FrameSize::normal, CodeRate::r3_4);
}

Bytes codeword_of(const Dvbs2Code& code) {
    std::mt19937 random(1);
    Bytes message(static_cast<std::size_t>(code.k_bch / 8));
    std::ranges::generate(message, [&] { return static_cast<std::uint8_t>(random()); });
    Bytes codeword(static_cast<std::size_t>(code.k_ldpc / 8));
    BchEncoder(code).encode(message, codeword);
    return codeword;
}

// Whether the generator divides the word, which is used up; the generator is read off the code word of the
// message 1.
bool divides_bit_by_bit(const Bytes& generator, Bytes& word, int message_bits) {
    for (int bit = 0; bit < message_bits; ++bit) {
        if (!(word[static_cast<std::size_t>(bit / 8)] >> (7 - bit % 8) & 1)) continue;
        word[static_cast<std::size_t>(bit / 8)] ^= static_cast<std::uint8_t>(0x80 >> bit % 8);
        for (int i = 0; i < static_cast<int>(8 * generator.size()); ++i) {
            const int at = bit + 1 + i;
            const int coefficient = generator[static_cast<std::size_t>(i / 8)] >> (7 - i % 8) & 1;
            word[static_cast<std::size_t>(at / 8)] ^= static_cast<std::uint8_t>(coefficient << (7 - at % 8));
        }
    }
    return std::ranges::all_of(word, [](std::uint8_t byte) { return byte == 0; });
}

Bytes generator_of(const Dvbs2Code& code) {
    Bytes message(static_cast<std::size_t>(code.k_bch / 8));
    message.back() = 1;
    Bytes codeword(static_cast<std::size_t>(code.k_ldpc / 8));
    BchEncoder(code).encode(message, codeword);
    Bytes generator(static_cast<std::size_t>(code.bch_parity() / 8));
    std::copy_n(codeword.begin() + code.k_bch / 8, generator.size(), generator.begin());
    return generator;
}

void bch_decode(benchmark::State& state) {
    const Dvbs2Code& code = code_of(state);
    const Bytes sent = codeword_of(code);
    Bytes received = sent;
    const auto errors = static_cast<std::size_t>(state.range(1));
    for (std::size_t i = 0; i < errors; ++i) received[(i * 997 + 5) % received.size()] ^= 0x10;
    const BchDecoder decoder(code);
    Bytes word = received;
    if (decoder.decode(word) != BchResult{true, static_cast<int>(errors)} || word != sent) {
        return state.SkipWithError("the decoder is wrong");
    }
    bool divides = false;
    Bytes dividend = sent;
    const Bytes generator = generator_of(code);
    const double slow_seconds =
        tidemill::bench::cpu_seconds([&] { divides = divides_bit_by_bit(generator, dividend, code.k_bch); });
    if (!divides) return state.SkipWithError("bit-by-bit division is wrong");
    const double total_seconds = tidemill::bench::cpu_seconds([&] {
        for (auto _ : state) {
            std::ranges::copy(received, word.begin());
            decoder.decode(word);
        }
    });
    state.SetLabel(std::string(name(code.frame_size)) + " " + std::string(name(code.rate)) + ", " +
                   std::to_string(errors) + " errors");
    const double seconds = total_seconds / static_cast<double>(state.iterations());
    state.counters["ours"] = 1e6 * seconds;
    state.counters["baseline"] = 1e6 * slow_seconds;
    state.counters["ratio"] = seconds / slow_seconds;
}

BENCHMARK(bch_decode)
    ->Name("bch")
    ->ArgNames({"code", "errors"})
    ->ArgsProduct({{0, 1}, {0, 1, 2, 3, 12}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
