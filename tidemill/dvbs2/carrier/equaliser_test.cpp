#include "tidemill/dvbs2/carrier/equaliser.hpp"

#include <cmath>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/carrier/header_bias.hpp"
#include "tidemill/dvbs2/standard/pl_header.hpp"
#include "tidemill/dvbs2/standard/testing/test_frames.hpp"
#include "tidemill/dvbs2/sync/frequency_estimator.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

/// Frames of one kind behind one another, received with some frequency, noise and echoes of whole symbols.
class EchoingFrames {
  public:
    EchoingFrames(const Pls& pls, double esn0_db, std::vector<std::pair<std::size_t, Iq>> echoes)
        : pls_(pls), deviation_(std::sqrt(0.5 * std::pow(10, -esn0_db / 10))), echoes_(std::move(echoes)) {}

    static constexpr double kFrequency = 0.01;

    const std::vector<Iq>& sent() const { return sent_; }
    const std::vector<Iq>& received() const { return received_; }
    FrameInfo info() const {
        return {.symbols = layout_of(pls_).symbols, .pls = pls_, .frequency = kFrequency};
    }

    void next() {
        sent_ = make_frame(pls_, scrambler_, random_).symbols;
        received_.clear();
        for (std::size_t n = 0; n < sent_.size(); ++n) {
            Iq sum = sent_[n];
            for (const auto& [late, gain] : echoes_)
                if (n >= late) sum += gain * sent_[n - late];
            const Iq turned = sum * Iq(std::polar(1.0, dsp::kTwoPi * kFrequency * static_cast<double>(n)));
            received_.push_back(turned + Iq(static_cast<float>(deviation_ * normal_(random_)),
                                            static_cast<float>(deviation_ * normal_(random_))));
        }
        received_.resize(kFrameBufferSymbols);
    }

    const PlScrambler& scrambler() const { return scrambler_; }

  private:
    Pls pls_;
    double deviation_;
    std::vector<std::pair<std::size_t, Iq>> echoes_;
    PlScrambler scrambler_{0};
    std::mt19937 random_{7};
    std::normal_distribution<double> normal_;
    std::vector<Iq> sent_, received_;
};

ChannelEstimate learn(EchoingFrames& frames, int count) {
    ChannelLearner learner(frames.scrambler());
    ChannelEstimate channel;
    for (int i = 0; i < count; ++i) {
        frames.next();
        REQUIRE(learner.learn(frames.received(), frames.info()));
        channel = learner.estimate();
    }
    return channel;
}

}  // namespace

TEST_CASE("channel learner: echoes are what they are, from pilots or from headers alone") {
    const Iq gain(0.3F, 0.4F);
    for (const bool pilots : {true, false}) {
        CAPTURE(pilots);
        EchoingFrames frames({7, FrameSize::short_, pilots}, 8, {{3, gain}});
        const ChannelEstimate channel = learn(frames, pilots ? 30 : 90);
        CHECK(std::abs(channel.response[kChannelBehind - 3] / channel.main() - std::complex<double>(gain)) <
              0.02);
        CHECK(channel.noise / std::norm(channel.main()) == doctest::Approx(0.16).epsilon(0.15));
        CHECK(channel.interference / std::norm(channel.main()) == doctest::Approx(0.25).epsilon(0.1));
        CHECK(channel.evidence > 10);
        const ObservedEcho echo = strongest_echo(channel);
        CHECK(echo.symbols == doctest::Approx(3).epsilon(0.05));
        CHECK(echo.gain_db == doctest::Approx(-6.02).epsilon(0.1));
    }
}

TEST_CASE("channel learner: noise alone is no echo, and a frame that a pulse has hit tells nothing") {
    EchoingFrames frames({4, FrameSize::short_, true}, 1, {});
    const ChannelEstimate channel = learn(frames, 30);
    CHECK(channel.evidence < 2);
    CHECK(channel.interference < 0.02 * channel.noise);
    ChannelLearner learner(frames.scrambler());
    std::vector<Iq> hit = frames.received();
    std::fill_n(hit.begin() + FrameLayout::pilot_start(2), kPilotBlockSymbols, Iq{});
    CHECK_FALSE(learner.learn(hit, frames.info()));
    hit = frames.received();
    std::fill_n(hit.begin() + 40, 20, Iq{});  // a part of the header
    CHECK_FALSE(learner.learn(hit, frames.info()));
    hit = frames.received();
    hit[10] = {NAN, 0};
    CHECK_FALSE(learner.learn(hit, frames.info()));
    CHECK(learner.estimate().symbols == 0);
}

TEST_CASE("header bias: what echoes feign is what headers tell in the mean") {
    const Pls pls{13, FrameSize::short_, false};
    for (const std::size_t late : {1U, 4U, 6U, 8U, 14U}) {
        CAPTURE(late);
        constexpr int kFrames = 300;
        EchoingFrames frames(pls, 15, {{late, Iq(-0.2F, 0.45F)}});
        const double bias = header_bias(learn(frames, 90), pls);
        FrequencyEstimator told(EchoingFrames::kFrequency);
        for (int i = 0; i < kFrames; ++i) {
            frames.next();
            told.add(std::span(frames.received()).first(kHeaderSymbols), header_references(pls.code()));
        }
        CHECK(std::abs(told.offset() - bias) < 2e-5);
        CHECK(std::abs(bias) > 3e-5);
    }
}

TEST_CASE("equaliser: what is left of an echo and noise is as little as a linear filter can leave") {
    constexpr double kEsn0Db = 12, kGain = 0.5;
    EchoingFrames frames({13, FrameSize::short_, true}, kEsn0Db, {{3, Iq(0.0F, static_cast<float>(kGain))}});
    EqualiserTaps taps;
    REQUIRE(make_equaliser(learn(frames, 40), taps.taps));
    frames.next();
    Equaliser equaliser;
    const auto equalised = equaliser.apply(frames.received(), frames.info(), taps);
    std::complex<double> both{};
    double power = 0;
    const auto count = static_cast<double>(frames.sent().size());
    for (std::size_t n = 0; n < frames.sent().size(); ++n) {
        const auto upright =
            std::complex<double>(equalised[n]) *
            std::polar(1.0, -dsp::kTwoPi * EchoingFrames::kFrequency * static_cast<double>(n));
        both += upright * std::conj(std::complex<double>(frames.sent()[n]));
        power += std::norm(upright);
    }
    const double signal = std::norm(both / count);
    const double esn0 = std::pow(10, kEsn0Db / 10), b = 1 + esn0 * (1 + kGain * kGain), c = 2 * esn0 * kGain;
    const double bound = std::sqrt(b * b - c * c) - 1;
    CHECK(signal / (power / count - signal) > 0.95 * bound);
    CHECK(signal / (power / count - signal) < 1.05 * bound);
}

}  // namespace tidemill::dvbs2
