#include "tidemill/dvbs2/front/tone_canceller.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/dvbs2/front/tone_watch.hpp"
#include "tidemill/dvbs2/receiver/testing/made_signal.hpp"

namespace tidemill::dvbs2 {
namespace {

using namespace internal;

constexpr std::size_t kWindow = 17464;

std::vector<Iq> clean_window() {
    std::vector<Iq> samples = make_reception({7, FrameSize::short_, true}, 8, {.esn0_db = 6}).samples;
    samples.erase(samples.begin(), samples.begin() + 20000);
    samples.resize(kWindow);
    return samples;
}

// Added, in cycles per sample and that again.
std::vector<Iq> with_tone(std::vector<Iq> samples, double frequency, double drift, double db) {
    for (std::size_t n = 0; n < samples.size(); ++n) {
        const auto t = static_cast<double>(n);
        samples[n] +=
            Iq(std::polar(std::pow(10, db / 20), dsp::kTwoPi * (frequency * t + drift * t * t / 2)));
    }
    return samples;
}

ToneList list_of(std::initializer_list<double> frequencies) {
    ToneList list;
    for (const double frequency : frequencies) list.add(frequency);
    return list;
}

// Mean power of the difference, of a signal of 1.
double difference_db(std::span<const Iq> a, std::span<const Iq> b) {
    double sum = 0;
    for (std::size_t n = 0; n < a.size(); ++n) sum += static_cast<double>(std::norm(a[n] - b[n]));
    return 10 * std::log10(sum / static_cast<double>(a.size()));
}

double left_db(const std::vector<Iq>& clean, std::vector<Iq> samples, const ToneList& tones) {
    ToneCanceller(kWindow).cancel(samples, tones);
    return difference_db(clean, samples);
}

}  // namespace

TEST_CASE(
    "tone canceller: of three tones and of the signal beside them a five-hundredth is lost, however strong") {
    const std::vector<Iq> clean = clean_window();
    for (const double db : {-15.0, 3.0, 30.0}) {
        CAPTURE(db);
        std::vector<Iq> samples = with_tone(clean, 0.1, 0, db);
        samples = with_tone(std::move(samples), -0.06501, 0, db);
        samples = with_tone(std::move(samples), 0.21007, 0, db);
        CHECK(left_db(clean, std::move(samples), list_of({0.1002, -0.0652, 0.2099})) < -23);
    }
}

TEST_CASE("tone canceller: a tone may move by half a bin of a look in a window, or a little") {
    const std::vector<Iq> clean = clean_window();
    const double drift = 0.5 / kToneBins / kWindow;
    const ToneList middle = list_of({0.1 + drift * kWindow / 2});
    CHECK(left_db(clean, with_tone(clean, 0.1, drift, 3), middle) < -23);
    CHECK(left_db(clean, with_tone(clean, 0.1, drift / 4, 3), middle) < -26);
}

TEST_CASE("tone canceller: where nothing came nothing is put, and the tone beside it goes all the same") {
    const std::vector<Iq> clean = clean_window();
    std::vector<Iq> samples = with_tone(clean, 0.1, 0, 3);
    const auto hole = std::span(samples).subspan(6400, 2048);
    std::ranges::fill(hole, Iq{});
    ToneCanceller(kWindow).cancel(samples, list_of({0.1}));
    CHECK(std::ranges::all_of(hole.subspan(64, 1920), [](Iq x) { return x == Iq{}; }));
    CHECK(difference_db(std::span(clean).first(6400), std::span(samples).first(6400)) < -26);
    CHECK(difference_db(std::span(clean).subspan(8448), std::span(samples).subspan(8448)) < -26);
}

TEST_CASE("tone canceller: where the level steps, it does so for tone and signal") {
    std::vector<Iq> clean = clean_window();
    std::vector<Iq> samples = with_tone(clean, 0.1, 0, 3);
    for (std::size_t n = 9000; n < kWindow; ++n) clean[n] *= 4, samples[n] *= 4;
    LevelStepList steps;
    steps.add({9000, 4});
    ToneCanceller(kWindow).cancel(samples, list_of({0.1}), steps);
    CHECK(difference_db(std::span(clean).first(9000), std::span(samples).first(9000)) < -26);
    CHECK(difference_db(std::span(clean).subspan(9000), std::span(samples).subspan(9000)) < -14);
}

TEST_CASE("tone canceller: without tones samples stay as they are; one more costs a thousandth") {
    const std::vector<Iq> clean = clean_window();
    std::vector<Iq> samples = clean;
    ToneCanceller(kWindow).cancel(samples, {});
    CHECK(samples == clean);
    CHECK(left_db(clean, clean, list_of({0.1})) < -24);
}

}  // namespace tidemill::dvbs2
