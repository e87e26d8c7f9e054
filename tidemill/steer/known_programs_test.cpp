#include "tidemill/steer/known_programs.hpp"

#include <doctest/doctest.h>

#include "tidemill/steer/steer_error.hpp"

namespace tidemill::steer {
namespace {

bridge::FactorFile file() {
    bridge::FactorFile file;
    file.tasks.push_back({.name = "make", .kinds = {{"big", {10, 9}}, {"little", {15, 9}}}});
    file.tasks.push_back(
        {.name = "make.cc1", .kinds = {{"big", {10, 9}}, {"little", {30, 2, bridge::Quality::estimated}}}});
    file.tasks.push_back({.name = "sed", .kinds = {{"little", {30, 9}}}});
    return file;
}

}  // namespace

TEST_CASE("A thread's own name goes before its process's") {
    CHECK(known_factor(file(), "make.cc1", "little", "big").value == 3);
    CHECK(known_factor(file(), "make.ld", "little", "big").value == 1.5);
}

TEST_CASE("A factor is as sure as the less sure one of its times") {
    CHECK(known_factor(file(), "make.cc1", "little", "big").quality == bridge::Quality::estimated);
    CHECK(known_factor(file(), "make.cc1", "big", "big").quality == bridge::Quality::measured);
}

TEST_CASE("Without a name or one of the times nothing is known") {
    CHECK(known_factor(file(), "ls.ls", "little", "big").quality == bridge::Quality::absent);
    CHECK(known_factor(file(), "sed.sed", "little", "big").quality == bridge::Quality::absent);
    CHECK(known_factor(file(), "make.ld", "middle", "big").quality == bridge::Quality::absent);
}

TEST_CASE("known programs: a file's times count before ratios by hand, a thread's own before its process's") {
    bridge::FactorFile file;
    file.tasks = {{"cc1.cc1", {{"big", {10, 9}}, {"little", {25, 9}}}},
                  {"ld", {{"big", {10, 9}}, {"little", {12, 1, bridge::Quality::estimated}}}},
                  {"half", {{"little", {12, 9}}}}};
    const KnownPrograms known({"big", "little"}, bridge::parse_emulation("little=2"), file);
    CHECK(known.factors_of("cc1.cc1")[0].value == 1);
    CHECK(known.factors_of("cc1.cc1")[1].value == 2.5);
    CHECK(known.factors_of("cc1.cc1")[1].quality == bridge::Quality::measured);
    CHECK(known.factors_of("ld.worker")[1].value == doctest::Approx(1.2));
    CHECK(known.factors_of("ld.worker")[1].quality == bridge::Quality::estimated);
    CHECK(known.factors_of("half.half")[1].value == 2);
    CHECK(known.factors_of("sh.sh")[1].value == 2);
    CHECK(known.factors_of("sh.sh")[1].quality == bridge::Quality::estimated);
}

TEST_CASE("known programs: where nothing is known it is absent, on the first kind, too") {
    const KnownPrograms known({"big", "little"}, {}, {});
    CHECK(known.is_nothing());
    for (const bridge::Factor& factor : known.factors_of("sh.sh"))
        CHECK(factor.quality == bridge::Quality::absent);
}

TEST_CASE("known programs: ratios of kinds that there are not, and of the first, are refused") {
    CHECK_THROWS_WITH_AS(KnownPrograms({"big", "little"}, bridge::parse_emulation("tiny=2"), {}),
                         doctest::Contains("another kind than the first of big, little"), SteerError);
    CHECK_THROWS_AS(KnownPrograms({"big", "little"}, bridge::parse_emulation("big=2"), {}), SteerError);
}

}  // namespace tidemill::steer
