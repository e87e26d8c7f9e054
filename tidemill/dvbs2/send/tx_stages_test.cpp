#include "tidemill/dvbs2/send/tx_stages.hpp"

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/receiver/testing/rx_schedules.hpp"
#include "tidemill/io/transport/ts_packet.hpp"
#include "tidemill/runtime/execute/pipeline.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/graph/structure.hpp"

namespace tidemill::dvbs2 {
namespace {

constexpr Pls kShort{10, FrameSize::short_, true};

std::vector<std::uint8_t> some_packets() {
    std::vector<std::uint8_t> bytes(300 * io::kTsPacketBytes);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = i % io::kTsPacketBytes == 0 ? io::kTsSyncByte : static_cast<std::uint8_t>(i * i >> 7);
    return bytes;
}

/// The frames of one multiplexer, with a rest before each of some.
class Frames final : public Module {
  public:
    Frames(Multiplexer& multiplexer, std::uint64_t rest_every)
        : Module("frames"), multiplexer_(multiplexer), rest_every_(rest_every) {}

    OutUpTo<std::uint8_t> bbframe = out<std::uint8_t>("bbframe", upto(kMaxBbframeBytes));
    Label<TxFrame> about = label<TxFrame>("about");
    Task make = task("make", &Frames::make_frame);

  private:
    Flow make_frame(Frame f) {
        const auto frame = multiplexer_.next();
        if (!frame) return Flow::stop;
        const bool rests = rest_every_ > 0 && f.number() > 0 && f.number() % rest_every_ == 0;
        f[about] = {.pls_code = frame->pls.code(), .behind_rest = rests, .rest_samples = 0};
        std::ranges::copy(frame->bbframe, f[bbframe].resize(frame->bbframe.size()).begin());
        return Flow::ok;
    }

    Multiplexer& multiplexer_;
    std::uint64_t rest_every_;
};

/// Keeps what comes.
class Kept final : public Module {
    const std::size_t most_;

  public:
    explicit Kept(std::size_t most_bytes) : Module("kept"), most_(most_bytes) {}

    InUpTo<std::uint8_t> stored = in<std::uint8_t>("stored", upto(most_));
    Task keep_bytes = task("keep", &Kept::keep_frame, sequential);

    std::vector<std::uint8_t> bytes{};

  private:
    void keep_frame(Frame f) { bytes.insert(bytes.end(), f[stored].begin(), f[stored].end()); }
};

constexpr TxStages::Rounded kAsTheyAre{dsp::SampleFormat::cf32, 1};

// In order where there are no threads; else each unit is a stage, with so many where it may have them.
std::vector<std::uint8_t> sent(int samples_per_symbol, std::uint64_t rest_every, int threads = 0) {
    Multiplexer multiplexer({.plan = {{kShort}}});
    multiplexer.feed(0, some_packets());
    const PulseShaper shaper(samples_per_symbol, 0.2);
    Graph graph;
    auto& frames = graph.add<Frames>(multiplexer, rest_every);
    const TxStages stages(graph, multiplexer, shaper, kAsTheyAre);
    auto& kept = graph.add<Kept>(stages.most_samples * sizeof(dsp::Iq));
    graph.bind(frames.bbframe, stages.modulator.bbframe);
    graph.bind(stages.byte_pulse->stored, kept.stored);
    if (threads == 0) {
        Sequence(graph).run();
    } else {
        const auto units = structure_of(graph).units;
        Pipeline(graph, internal::schedule_of(units, std::vector<bool>(units.size() - 1, true), threads))
            .run();
    }
    return kept.bytes;
}

// By the plain objects, frame by frame.
std::vector<std::uint8_t> sent_plainly(int samples_per_symbol) {
    Multiplexer multiplexer({.plan = {{kShort}}});
    multiplexer.feed(0, some_packets());
    PulseShaper shaper(samples_per_symbol, 0.2);
    std::vector<std::uint8_t> bytes;
    for (std::vector<dsp::Iq> symbols; multiplexer.send(symbols); symbols.clear()) {
        const auto samples = std::as_bytes(shaper.process(symbols));
        const auto* const first = reinterpret_cast<const std::uint8_t*>(samples.data());
        bytes.insert(bytes.end(), first, first + samples.size());
    }
    return bytes;
}

}  // namespace

TEST_CASE("tx stages: their samples are those of the plain objects, to the bit") {
    for (const int samples_per_symbol : {1, 2, 3, 8}) {
        CAPTURE(samples_per_symbol);
        CHECK(sent(samples_per_symbol, 0) == sent_plainly(samples_per_symbol));
    }
}

TEST_CASE("tx stages: before a rest the last pulse dies away, behind it the next one rises") {
    const auto resting = sent(2, 7), whole = sent(2, 0);
    const std::size_t frame = 2 * sizeof(dsp::Iq) * static_cast<std::size_t>(layout_of(kShort).symbols);
    const std::size_t tail = 2 * sizeof(dsp::Iq) * PulseShaper(2, 0.2).history();
    const std::size_t rests = (whole.size() / frame - 1) / 7;
    REQUIRE(rests > 2);
    CHECK(resting.size() == whole.size() + rests * tail);
    CHECK(std::ranges::equal(std::span(resting).first(7 * frame), std::span(whole).first(7 * frame)));
    // Half a pulse behind the rest nothing is left of it.
    const auto behind = [&](std::span<const std::uint8_t> bytes, std::size_t from) {
        return bytes.subspan(from + 2 * tail, frame - 2 * tail);
    };
    CHECK(std::ranges::equal(behind(resting, 7 * frame + tail), behind(whole, 7 * frame)));
}

TEST_CASE("tx stages: a pipeline gives what the sequence gives, with one thread a stage and with several") {
    const auto in_order = sent(2, 5);
    for (const int threads : {1, 3}) CHECK(sent(2, 5, threads) == in_order);
}

}  // namespace tidemill::dvbs2
