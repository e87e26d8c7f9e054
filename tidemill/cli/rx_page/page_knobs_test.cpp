#include "tidemill/cli/rx_page/page_knobs.hpp"

#include <cstdint>
#include <sstream>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/run/journal/journal.hpp"
#include "tidemill/run/sequence.hpp"

namespace tidemill::cli {
namespace {

// A number that is told with each frame, and one that is no slider.
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

}  // namespace

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
