#include "tidemill/options/manual.hpp"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/cli/verbs.hpp"
#include "tidemill/testing/program.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::cli {

using namespace internal;

TEST_CASE("manual: names every verb and every option, and the exit statuses") {
    const Ended ended = run_program({"--manual"});
    CHECK(ended.status == 0);
    CHECK(ended.out.starts_with(".TH TIDEMILL 1\n"));
    for (const char* part : {".SS tidemill dvbs2 rx\n", ".B \\-o,\\-\\-output\n", ".SH EXIT STATUS\n",
                             "SIGHUP", "Its other name is front."}) {
        CAPTURE(part);
        CHECK(says(ended.out, part));
    }
    Verb program("tidemill", "");
    add_verbs(program);
    for (Verb& verb : program.verbs()) CHECK(says(ended.out, ".SS tidemill " + verb.name()));
}

TEST_CASE("manual: one page for each verb, and one for the program") {
    const ScratchFolder folder;
    REQUIRE(run_program({"--manuals", (folder / ".").string()}).status == 0);
    CHECK(says(ScratchFolder::content_of(folder / "tidemill.1"), ".SS tidemill dvbs2 rx\n"));
    const std::string page = ScratchFolder::content_of(folder / "tidemill-dvbs2-rx.1");
    CHECK(page.starts_with(".TH TIDEMILL-DVBS2-RX 1\n"));
    CHECK(says(page, ".B \\-o,\\-\\-output\n"));
    CHECK(run_program({"--manuals", (folder / "absent")}).status == 1);
}

TEST_CASE("help: -h shows at most 25 options of each verb with many, --help all of them") {
    const auto options_in = [](const std::string& help) {
        std::size_t count = 0;
        for (std::size_t at = 0; (at = help.find("\n  -", at)) != std::string::npos; ++at) ++count;
        return count;
    };
    for (const char* verb : {"rx", "tx"}) {
        CAPTURE(verb);
        const Ended few = run_program({"dvbs2", verb, "-h"}), all = run_program({"dvbs2", verb, "--help"});
        CHECK(few.status == 0);
        CHECK(options_in(few.out) <= 26);  // with --help itself
        CHECK(options_in(few.out) >= 10);
        CHECK(options_in(all.out) > 60);
        CHECK(says(few.out, fmt::format("All options: tidemill dvbs2 {} --help", verb)));
    }
    CHECK(run_program({"schedule", "-h"}).out == run_program({"schedule", "--help"}).out);
}

TEST_CASE("completion: verbs, options, and the words that an option takes") {
    const auto after = [](std::vector<std::string> words) {
        words.insert(words.begin(), "--complete");
        return run_program(words).out;
    };
    CHECK(after({"dv"}) == "dvbs2\n");
    CHECK(after({"dvbs2", "r"}) == "rx\n");
    CHECK(after({"dvbs2", "rx", "--symb"}) == "--symbol-rate\n");
    CHECK(after({"dvbs2", "rx", "--damaged", ""}) == "drop\nmark\n");
    CHECK(after({"dvbs2", "rx", "-o", ""}).empty());  // a file
    CHECK(after({}).empty());
}

}  // namespace tidemill::cli
