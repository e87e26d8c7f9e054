#include "tidemill/dvbs2/front/iq_tracker.hpp"

#include <cmath>
#include <complex>
#include <random>
#include <span>
#include <vector>

#include <doctest/doctest.h>

namespace tidemill::dvbs2 {
namespace {

// Noise of power `power`, with an image of `image` and an offset, in chunks.
class Radio {
  public:
    Radio(double power, Iq image, Iq offset) : power_(power), image_(image), offset_(offset) {}

    BlockSpectrum block() {
        BlockSpectrum spectrum;
        for (auto& moments : spectrum.moments) moments = dsp::iq_moments(chunk());
        return spectrum;
    }

  private:
    std::vector<Iq> chunk() {
        std::normal_distribution<float> normal;
        const auto part = static_cast<float>(std::sqrt(power_ / 2));
        std::vector<Iq> samples(kChunkSamples);
        for (Iq& x : samples) {
            x = {part * normal(random_), part * normal(random_)};
            x += image_ * std::conj(x) + offset_;
        }
        return samples;
    }

    double power_;
    Iq image_, offset_;
    std::mt19937_64 random_{1};
};

void add(IqTracker& tracker, Radio radio, int blocks) {
    for (int i = 0; i < blocks; ++i) tracker.add(radio.block());
}

constexpr int kMemoryBlocks = 2 * 131072 / kMaxBlockSamples;

}  // namespace

TEST_CASE("iq_tracker: what an offset and an imbalance do is measured, and told in dB") {
    IqTracker tracker(2.0);
    add(tracker, Radio(1.0, {0.06F, -0.08F}, {0.3F, 0.1F}), kMemoryBlocks);
    CHECK(std::abs(tracker.correction().offset - Iq(0.3F, 0.1F)) < 0.01F);
    CHECK(std::abs(tracker.correction().image - Iq(0.06F, -0.08F)) < 0.01F);
    CHECK(tracker.image_db() == doctest::Approx(-20.0).epsilon(0.02));
    CHECK(tracker.offset_db() == doctest::Approx(-10.0).epsilon(0.02));
}

TEST_CASE("iq_tracker: a signal without either is left as it is, from its first block on") {
    IqTracker tracker(2.0);
    Radio radio(1.0, {}, {});
    for (int i = 0; i < 20 * kMemoryBlocks; ++i) {
        tracker.add(radio.block());
        CHECK(!tracker.correction().changes_anything());
    }
    CHECK(std::isinf(tracker.offset_db()));
}

TEST_CASE("iq_tracker: an offset that is gone is no longer taken out, and another one is") {
    IqTracker tracker(2.0);
    add(tracker, Radio(1.0, {}, {0.5F, 0.0F}), kMemoryBlocks);
    add(tracker, Radio(1.0, {}, {0.0F, 0.5F}), 8 * kMemoryBlocks);
    CHECK(std::abs(tracker.correction().offset - Iq(0.0F, 0.5F)) < 0.02F);
    add(tracker, Radio(1.0, {}, {}), 12 * kMemoryBlocks);
    CHECK(!tracker.correction().changes_anything());
}

TEST_CASE("iq_tracker: a loud burst of interference weighs no more than the signal, silence nothing") {
    IqTracker tracker(2.0);
    add(tracker, Radio(1.0, {}, {}), kMemoryBlocks);
    add(tracker, Radio(1.0, {}, {1000.0F, 0.0F}), 1);
    CHECK(std::abs(tracker.correction().offset) < 0.01F);
    tracker = IqTracker(2.0);
    add(tracker, Radio(1.0, {}, {0.5F, 0.0F}), kMemoryBlocks);
    const dsp::IqCorrection before = tracker.correction();
    add(tracker, Radio(0.0, {}, {}), kMemoryBlocks);
    CHECK(tracker.correction().offset == before.offset);
}

TEST_CASE("iq_tracker: what weak samples showed is no property of a signal far above them") {
    IqTracker tracker(2.0);
    add(tracker, Radio(1e-8, {}, {1e-3F, 1e-3F}), 2);
    CHECK(tracker.correction().changes_anything());
    add(tracker, Radio(1.0, {}, {}), 1);
    CHECK(!tracker.correction().changes_anything());
    add(tracker, Radio(1.0, {0.06F, -0.08F}, {0.3F, 0.1F}), kMemoryBlocks);
    CHECK(std::abs(tracker.correction().offset - Iq(0.3F, 0.1F)) < 0.02F);
    CHECK(std::abs(tracker.correction().image - Iq(0.06F, -0.08F)) < 0.02F);
}

}  // namespace tidemill::dvbs2
