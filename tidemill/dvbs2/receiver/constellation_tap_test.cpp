#include "tidemill/dvbs2/receiver/constellation_tap.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/receiver/testing/made_signal.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

const Pls kQpsk89{10, FrameSize::short_, true};
constexpr std::size_t kDataSymbols = 8100;

const MadeReception& reception() {
    static const MadeReception made = [] {
        ChannelConfig channel;
        channel.esn0_db = 12;
        return make_reception(kQpsk89, 12, channel);
    }();
    return made;
}

template <class Run>
std::vector<dsp::Iq> tapped(std::uint64_t frames, Run run) {
    ConstellationTap tap(frames);
    MemorySource source(reception().samples);
    Receiver receiver(source, {}, [](auto) {});
    run(receiver.graph(), RunOptions{.observers = {&tap}});
    return tap.symbols();
}

std::vector<dsp::Iq> tapped_in_order(std::uint64_t frames) {
    return tapped(frames, [](Graph& graph, const RunOptions& options) { Sequence(graph).run(options); });
}

}  // namespace

TEST_CASE("constellation: the symbols of so many frames, about the points of unit energy") {
    const std::vector<dsp::Iq> symbols = tapped_in_order(3);
    REQUIRE(symbols.size() == 3 * kDataSymbols);
    double error = 0;
    for (const dsp::Iq symbol : symbols) {
        const float axis = std::sqrt(0.5F);
        const dsp::Iq point(std::copysign(axis, symbol.real()), std::copysign(axis, symbol.imag()));
        error += std::norm(symbol - point);
    }
    CHECK(-10 * std::log10(error / static_cast<double>(symbols.size())) == doctest::Approx(12).epsilon(0.03));
}

TEST_CASE("constellation: replicas keep the same symbols in the same order") {
    const std::vector<dsp::Iq> in_order = tapped_in_order(6);
    const auto replicated = tapped(6, [](Graph& graph, const RunOptions& options) {
        Pipeline(graph, thread_per_task(graph, 3)).run(options);
    });
    CHECK(replicated == in_order);
}

}  // namespace tidemill::dvbs2
