#include "tidemill/scheduling/unequal/emulation.hpp"

#include <doctest/doctest.h>

#include "tidemill/scheduling/unequal/bridge_error.hpp"

namespace tidemill::bridge {

TEST_CASE("emulated kinds: a task has its own ratio, else its module's, else that of all others") {
    const EmulatedKind kind = parse_emulated_kind(
        R"({"from": "a profile", "ratio": 2, "tasks": {"decoder.run": {"ratio": 4.5, "stands_for": "LDPC"},
            "decoder": {"ratio": 3}}})",
        "little.json");
    CHECK(kind.ratio_of("decoder.run") == 4.5);
    CHECK(kind.ratio_of("decoder.flush") == 3);
    CHECK(kind.ratio_of("sink.send") == 2);
}

TEST_CASE("emulated kinds: a ratio for all tasks is said in words; several kinds stand side by side") {
    Emulation emulation;
    add_emulated_kind(emulation, "little=2.5");
    add_emulated_kind(emulation, "tiny=7");
    CHECK(emulation.kinds.at("little").ratio_of("any.task") == 2.5);
    CHECK(to_string(emulation) == "little 2.5 times slower, tiny 7 times slower");
}

TEST_CASE("emulated kinds: what cannot be is refused by name and place") {
    const auto refused = [](const char* wish, const char* why) {
        Emulation emulation;
        add_emulated_kind(emulation, "tiny=7");
        CHECK_THROWS_WITH_AS(add_emulated_kind(emulation, wish), doctest::Contains(why), BridgeError);
    };
    refused("little", "give KIND=RATIO or KIND=FILE");
    refused("=2", "give KIND=RATIO");
    refused("little=0.5", "a core is only made slower");
    refused("little=nan", "a core is only made slower");
    refused("tiny=2", "emulated already");
    refused("little=/nowhere/little.json", "/nowhere/little.json");
    const auto bad_file = [](const char* text, const char* why) {
        CHECK_THROWS_WITH_AS(parse_emulated_kind(text, "little.json"), doctest::Contains(why), BridgeError);
    };
    bad_file("{", "little.json");
    bad_file(R"({"ratio": 0.9})", "only made slower");
    bad_file(R"({"ratios": 2})", "ratios");
    bad_file(R"({"tasks": {"sink": {"stands_for": "Sink.send"}}})", "ratio");
}

}  // namespace tidemill::bridge
