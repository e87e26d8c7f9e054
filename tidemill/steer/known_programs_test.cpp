#include "tidemill/steer/known_programs.hpp"

#include <doctest/doctest.h>

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

}  // namespace tidemill::steer
