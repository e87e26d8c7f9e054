#include "tidemill/options/outside_verb.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "tidemill/testing/program.hpp"

namespace tidemill::cli {
namespace {

using namespace internal;
namespace fs = std::filesystem;

// A program that prints how it was called.
fs::path put_program(const ScratchFolder& folder, const std::string& name) {
    folder.put(name, "#!/bin/sh\necho \"$(basename \"$0\"): $*\"\nexit 7\n");
    fs::permissions(folder / name, fs::perms::owner_all);
    return folder / name;
}

class PathIs {
  public:
    explicit PathIs(const std::string& path) : before_(std::getenv("PATH")) { set(path); }
    ~PathIs() { set(before_); }
    PathIs(const PathIs&) = delete;
    PathIs& operator=(const PathIs&) = delete;

  private:
    static void set(const std::string& path) { setenv("PATH", path.c_str(), 1); }
    std::string before_;
};

}  // namespace

TEST_CASE("outside verb: a program of that name on the path does it, with its words and its status") {
    const ScratchFolder folder;
    put_program(folder, "tidemill-greet");
    const PathIs path("/nowhere:" + (folder / "").string() + ":/usr/bin:/bin");
    const Ended ended = run_program({"greet", "--json", "two words", ""});
    CHECK(ended.status == 7);
    CHECK(ended.out == "tidemill-greet: --json two words \n");
}

TEST_CASE("outside verb: verbs of the program itself, options and paths name no other program") {
    const ScratchFolder folder;
    for (const char* name : {"tidemill-topo", "tidemill---version", "tidemill-a.b"})
        put_program(folder, name);
    fs::create_directory(folder / "tidemill-folder");
    folder.put("tidemill-text", "no program");
    Verb program("tidemill", "");
    program.verb("topo", "");
    for (const char* verb : {"topo", "--version", "a.b", "../greet", "", "folder", "text", "nothing"}) {
        CAPTURE(verb);
        CHECK(!program_of_verb(program, verb, folder / ""));
    }
    CHECK(run_program({"no-such-verb"}).status == 2);
}

TEST_CASE("outside verb: bench leaves some of its words to other programs") {
    const ScratchFolder folder;
    for (const char* name : {"tidemill-bench-sweep", "tidemill-bench-python", "tidemill-bench-graph"})
        put_program(folder, name);
    const PathIs path((folder / "").string() + ":/usr/bin:/bin");
    CHECK(run_program({"bench", "sweep", "--frames", "3"}).out == "tidemill-bench-sweep: --frames 3\n");
    CHECK(run_program({"bench", "python"}).out == "tidemill-bench-python: \n");
    CHECK(run_program({"bench"}).out.find("sweep ") != std::string::npos);
}

TEST_CASE("outside verb: words that are left to a program which is not there say where it comes from") {
    const ScratchFolder folder;
    const PathIs path((folder / "").string());
    for (const char* name : {"sweep", "python"}) {
        const Ended ended = run_program({"bench", name});
        CHECK(ended.status == 1);
        CHECK(ended.err.find("Python's package brings it") != std::string::npos);
    }
}

TEST_CASE("outside verb: the first folder of the path counts, and relative ones never do") {
    const ScratchFolder first, second;
    const fs::path expected = put_program(first, "tidemill-greet");
    put_program(second, "tidemill-greet");
    Verb program("tidemill", "");
    CHECK(program_of_verb(program, "greet", (first / "").string() + ":" + (second / "").string()) ==
          expected);
    const fs::path before = fs::current_path();
    fs::current_path(second / "");
    CHECK(!program_of_verb(program, "greet", ":.:relative"));
    fs::current_path(before);
}

}  // namespace tidemill::cli
