#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "tidemill/dvbs2/carrier/equaliser.hpp"
#include "tidemill/dvbs2/carrier/rise_watch.hpp"
#include "tidemill/dvbs2/receiver/published.hpp"
#include "tidemill/runtime/graph/module.hpp"

namespace tidemill::dvbs2 {

/// The frequency of a frame's carrier by its headers, without what echoes feign in them.
inline float carrier_frequency(const FrameInfo& about, const EqualiserTaps& by) {
    return by.on != 0 ? about.frequency - by.header_bias : about.frequency;
}

/// Learns echoes from the known symbols of frames, and gives each frame the equaliser that helps it; none
/// where there is nothing to be won. Of a signal without echoes it looks at one frame in sixteen, and at all
/// again where headers have become worse at once.
class RxEqualiser final : public Module {
  public:
    explicit RxEqualiser(const PlScrambler& scrambler) : Module("equaliser"), learner_(scrambler) {}

    In<Iq> frame = in<Iq>("frame", kFrameBufferSymbols);
    Label<const FrameInfo> info = label<const FrameInfo>("info");
    In<std::uint8_t> gap = in<std::uint8_t>("gap");
    Out<EqualiserTaps> taps = out<EqualiserTaps>("taps");
    Task learn = task("learn", &RxEqualiser::learn_echoes);

    /// The strongest echo, while it is being equalised.
    std::optional<ObservedEcho> echo() const { return echo_now_.get(); }
    /// Frames equalised so far.
    std::uint64_t frames() const { return frames_.load(std::memory_order_relaxed); }

    void keep(Archive& archive) override;

  private:
    void learn_echoes(Frame f);
    bool is_due();
    bool has_changed(const FrameInfo& about, bool is_learned);
    void begin_anew();
    void decide();
    void hear(const FrameInfo& about);
    float mean_header_bias() const;
    void give(std::span<const Iq> received, const FrameInfo& about, EqualiserTaps& to);

    ChannelLearner learner_;
    EqualiserTaps taps_{};              // as they are given to frames
    ChannelEstimate channel_{};         // that they are for
    std::array<float, 128> headers_{};  // by PLS code, those from which the frequency is known,
    float headers_before_ = 0;          // and how many of them came by another channel,
    float bias_before_ = 0;             // with what that feigned
    RiseWatch watch_;                   // over what the channel does not explain
    std::uint64_t end_ = 0;             // of the frame before
    std::uint32_t learned_ = 0;         // frames, since symbols were lost
    std::uint32_t passed_ = 0;          // since the last that was learned from
    bool doubtful_ = false;             // noise alone rarely looks like that
    std::optional<ObservedEcho> echo_{};
    Published<std::optional<ObservedEcho>> echo_now_;
    std::atomic<std::uint64_t> frames_{0};
};

}  // namespace tidemill::dvbs2
