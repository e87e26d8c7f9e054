#include "tidemill/steer/journal.hpp"

#include <doctest/doctest.h>

#include "tidemill/steer/testing/fake_system.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::steer {
namespace {

using testing::FakeSystem;
using testing::FakeThread;

const CpuSet kAll = {0, 1};

SteeredThread steered(const FakeThread& thread, const CpuSet& set) {
    return {thread.process, thread.number, thread.facts.start_ticks, thread.facts.session, thread.facts.name,
            kAll,           {set},         thread.facts.start_ticks};
}

}  // namespace

TEST_CASE("journal: what is written is read again, and a missing file holds nobody") {
    const ScratchFolder folder;
    const Journal journal{"0d8c", {{17, 18, 4711, 9, "cc1.cc1", {0, 1, 2, 3}, {{0}, {2, 3}}, 4800}}};
    CHECK(read_journal(folder / "j.json") == Journal{});
    write_journal(journal, folder / "j.json");
    CHECK(read_journal(folder / "j.json") == journal);
    CHECK(ScratchFolder::content_of(folder / "j.json").find("\"before\": \"0-3\"") != std::string::npos);
}

TEST_CASE("journal: what is none is refused by name and place") {
    const auto refused = [](const char* text, const char* why) {
        CAPTURE(text);
        CHECK_THROWS_WITH_AS(parse_journal(text, "j.json"), doctest::Contains(why), SteerError);
    };
    refused("", "j.json");
    refused("[]", "j.json");
    refused(R"({"version": 2, "boot_id": "", "threads": []})", "version 2 is another program's");
    refused(R"({"version": 1, "boot_id": "", "threads": [{"process": 0}]})", "process");
    refused(
        R"({"version": 1, "boot_id": "", "threads": [{"process": 1, "thread": 1, "start_ticks": 1, "session": 1,
                "name": "", "before": "", "sets": [], "since_ticks": 1}]})",
        "is no set of processors");
}

TEST_CASE("journal: a thread that has ended, or whose number another one has now, is not restored") {
    FakeSystem system(kAll);
    FakeThread& ended = system.start("a");
    Journal journal{"this", {steered(ended, {0})}};
    system.end(ended);
    system.reuse(1000);
    FakeThread& stranger = system.start("b");
    stranger.wish = {0};
    stranger.facts.session = 6;
    CHECK(restore(journal, system) == Restored{.gone = 1});
    CHECK_FALSE(stranger.is_touched);
}

TEST_CASE("journal: whom somebody has narrowed since is left alone, also where a thread of ours began it") {
    FakeSystem system(kAll);
    FakeThread& before = system.start("older");
    before.wish = {0};
    FakeThread& thread = system.start("a");
    const Journal journal{"this", {steered(thread, {0})}};
    thread.wish = {1};
    FakeThread& child = system.fork(thread, "b");  // with the affinity that somebody chose
    CHECK(restore(journal, system) == Restored{.changed = 1});
    CHECK_FALSE(before.is_touched);
    CHECK_FALSE(child.is_touched);
}

TEST_CASE("journal: children, their children, and orphans of the same session have their affinity back") {
    FakeSystem system(kAll);
    FakeThread& parent = system.start("a");
    parent.wish = {0};
    const Journal journal{"this", {steered(parent, {0})}};
    FakeThread& child = system.fork(parent, "b");
    FakeThread& grandchild = system.fork(child, "c");
    FakeThread& lost = system.fork(child, "d");
    FakeThread& its_child = system.fork(lost, "e");
    system.end(lost);
    CHECK(restore(journal, system) == Restored{.restored = 4});
    for (const FakeThread* thread : {&parent, &child, &grandchild, &its_child})
        CHECK(system.effective(*thread) == kAll);
}

TEST_CASE("journal: what the system refuses is counted") {
    FakeSystem system(kAll);
    FakeThread& thread = system.start("a");
    thread.wish = {0};
    thread.is_ours = false;
    CHECK(restore({"this", {steered(thread, {0})}}, system) == Restored{.refused = 1});
}

}  // namespace tidemill::steer
