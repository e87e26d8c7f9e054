#include "tidemill/dvbs2/receiver/llr_receiver.hpp"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/dvbs2/receiver/frame_decoder.hpp"
#include "tidemill/dvbs2/receiver/internal/made_signal.hpp"
#include "tidemill/run/sequence.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

struct Heard {
    std::uint64_t start;
    bool gap;
    bool good;
    int ldpc_iterations;
    std::vector<std::uint8_t> bbframe;

    bool operator==(const Heard&) const = default;
};

const MadeReception& reception() {
    static const MadeReception made = [] {
        ChannelConfig channel;
        channel.esn0_db = 12;
        return make_reception({10, FrameSize::short_, true}, 12, channel);
    }();
    return made;
}

}  // namespace

TEST_CASE("llr receiver: what it gives away decodes elsewhere to the very frames of the receiver") {
    std::vector<Heard> here, elsewhere;
    MemorySource samples(reception().samples);
    Receiver receiver(
        samples, {},
        RxOutputs{
            .streams = {.packets = [](auto, auto) {}}, .frames = [&](const auto& f) {
                here.push_back(
                    {f.info.start, f.gap, f.good, f.ldpc_iterations, {f.bbframe.begin(), f.bbframe.end()}});
            }});
    Sequence(receiver.graph()).run();
    MemorySource again(reception().samples);
    FrameDecoder decoder;
    LlrReceiver front(again, {}, [&](const DemappedFrame& f) {
        const DecodedFrame decoded = decoder.decode(f.info.pls, f.llrs);
        elsewhere.push_back({f.info.start,
                             f.gap,
                             decoded.good,
                             decoded.ldpc_iterations,
                             {decoded.bbframe.begin(), decoded.bbframe.end()}});
    });
    Sequence(front.graph()).run();
    CHECK(here.size() >= 10);
    CHECK(here == elsewhere);
    CHECK(front.counts().frames == here.size());
}

TEST_CASE("frame decoder: a frame without a code, or with another number of soft bits, is refused") {
    FrameDecoder decoder;
    const std::vector<fec::Llr> llrs(16200, 100);
    CHECK_THROWS_WITH_AS(decoder.decode({0, FrameSize::normal, false}, llrs),
                         doctest::Contains("has 0 soft bits, not 16200"), Dvbs2Error);
    CHECK_THROWS_WITH_AS(decoder.decode({4, FrameSize::normal, false}, llrs),
                         doctest::Contains("has 64800 soft bits, not 16200"), Dvbs2Error);
    CHECK(decoder.decode({4, FrameSize::short_, false}, llrs).good);
}

TEST_CASE("frame decoder: silence is no frame, though zeros are a codeword") {
    FrameDecoder decoder;
    for (const fec::Llr llr : {0, 1})
        CHECK_FALSE(decoder.decode({4, FrameSize::short_, false}, std::vector<fec::Llr>(16200, llr)).good);
}

}  // namespace tidemill::dvbs2
