#include "tidemill/apps/reception/page/page_knobs.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/apps/reception/counted_source.hpp"
#include "tidemill/apps/reception/receivers.hpp"
#include "tidemill/dvbs2/tuner/tuned_source.hpp"
#include "tidemill/runtime/execute/sequence.hpp"
#include "tidemill/runtime/stream/journal.hpp"

namespace tidemill::cli {
namespace {

// A number that is sent with each frame, and one that is no slider.
class Amplifier final : public Module {
  public:
    explicit Amplifier(std::vector<float>& told) : Module("amp"), told_(told) {}
    Knob<float> gain = knob<float>("gain", 1.0F, {0, 50});
    Knob<double> open = knob<double>("open", 0);
    Task tell = task("tell", &Amplifier::tell_gain);

  private:
    void tell_gain(Frame f) { told_.push_back(f[gain]); }
    std::vector<float>& told_;
};

/// Silence from a radio whose gain can be set.
class Radio final : public io::SampleSource {
  public:
    dsp::SampleFormat format() const override { return dsp::SampleFormat::ci8; }
    std::optional<double> sample_rate_hz() const override { return 1e6; }
    std::size_t read(std::span<std::byte> to) override {
        std::ranges::fill(to, std::byte{0});
        reads_.push_back(gain_db_);
        return reads_.size() < 20 ? to.size() : 0;
    }
    std::vector<io::SourceControl> controls() const override { return {{"gain_db", 10, -5, 40}}; }
    void control(std::size_t index, double value) override {
        CHECK(index == 0);
        gain_db_ = value;
    }

    const std::vector<double>& reads() const { return reads_; }

  private:
    double gain_db_ = 10;
    std::vector<double> reads_{};  // gains at which something was read
};

}  // namespace

TEST_CASE("page knobs: the gain of a receiver's radio is one, and is changed while it is read") {
    Radio radio;
    CountedSource counted(radio);
    Receivers receivers(counted, dvbs2::ReceiverConfig{.symbol_rate_hz = 500e3}, silent_outputs());
    PageKnobs knobs(receivers.graph());
    CHECK(to_text(knobs.describe()) ==
          R"([{"name":"source.gain_db","value":10.0,"least":-5.0,"most":40.0}])");
    const auto viewer = [&] {
        if (radio.reads().size() == 5)
            CHECK(knobs.set(R"({"name": "source.gain_db", "value": 32.5})").status == 200);
        return false;
    };
    Sequence(receivers.graph()).run({.stop_when = viewer});
    REQUIRE(radio.reads().size() >= 20);
    CHECK(radio.reads()[4] == 10);
    CHECK(radio.reads()[19] == 32.5);
    CHECK(knobs.set(R"({"name": "source.gain_db", "value": 41})").status == 400);
}

TEST_CASE("page knobs: where a tuner takes the carrier is one, beside the radio's gain") {
    dvbs2::TunedSource tuned(std::make_unique<Radio>(), {.symbol_rate_hz = 100e3, .offset_hz = 50e3});
    Receivers receivers(tuned, dvbs2::ReceiverConfig{.symbol_rate_hz = 100e3, .tuned_hz = 50e3},
                        silent_outputs());
    PageKnobs knobs(receivers.graph());
    CHECK(to_text(knobs.describe()) ==
          R"([{"name":"source.gain_db","value":10.0,"least":-5.0,"most":40.0},)"
          R"({"name":"source.offset_hz","value":50000.0,"least":-50000.0,"most":150000.0}])");
    CHECK(knobs.set(R"({"name": "source.offset_hz", "value": 62000})").status == 200);
    Sequence(receivers.graph()).run({});
    CHECK(tuned.moved().hz == doctest::Approx(12e3).epsilon(0.2));
}

TEST_CASE("page knobs: what a viewer sets holds from the next frame on, and stands in the journal") {
    std::vector<float> told;
    Graph graph("rx");
    graph.add<Amplifier>(told);
    PageKnobs knobs(graph);
    std::stringstream written;
    Journal journal(written);
    const auto viewer = [&] {
        if (told.size() == 5) CHECK(knobs.set(R"({"name": "amp.gain", "value": 20.5})").status == 200);
        return false;
    };
    Sequence(graph).run({.frames = 10, .stop_when = viewer, .journal = &journal});
    CHECK(told.front() == 1);
    CHECK(told.back() == 20.5F);
    const JournalRecord record = parse_journal(written, "journal");
    REQUIRE(record.settings.size() == 2);
    CHECK(record.settings[1].values.front().first == "amp.gain");
    CHECK(record.settings[1].values.front().second == std::vector<double>{20.5});
    CHECK(told[record.settings[1].frame] == 20.5F);
    CHECK(told[record.settings[1].frame - 1] == 1);
}

TEST_CASE("page knobs: those with a range are sliders, with their values") {
    std::vector<float> told;
    Graph graph("rx");
    graph.add<Amplifier>(told);
    PageKnobs knobs(graph);
    CHECK(to_text(knobs.describe()) == R"([{"name":"amp.gain","value":1.0,"least":0.0,"most":50.0}])");
    knobs.set(R"({"name": "amp.gain", "value": 3})");
    CHECK(to_text(knobs.describe()) == R"([{"name":"amp.gain","value":3.0,"least":0.0,"most":50.0}])");
    Graph none("none");
    CHECK(to_text(PageKnobs(none).describe()) == "[]");
}

TEST_CASE("page knobs: rubbish, other names and values out of range are refused, and change nothing") {
    std::vector<float> told;
    Graph graph("rx");
    graph.add<Amplifier>(told);
    PageKnobs knobs(graph);
    for (const char* body :
         {"", "{", "[]", "{}", R"({"name": 1, "value": 2})", R"({"name": "amp.gain"})",
          R"({"name": "amp.gain", "value": "2"})", R"({"name": "amp.gain", "value": 51})",
          R"({"name": "<img>", "value": 2})", R"({"name": "amp.gain", "value": -1e300})"}) {
        CAPTURE(body);
        CHECK(knobs.set(body).status == 400);
    }
    CHECK(to_text(knobs.describe()).find("\"value\":1.0") != std::string::npos);
}

}  // namespace tidemill::cli
