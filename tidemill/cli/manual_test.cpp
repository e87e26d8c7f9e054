#include "tidemill/options/manual.hpp"

#include <string>

#include <doctest/doctest.h>

#include "tidemill/cli/verbs.hpp"
#include "tidemill/testing/program.hpp"

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

}  // namespace tidemill::cli
