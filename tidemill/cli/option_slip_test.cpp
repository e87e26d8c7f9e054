#include "tidemill/options/option_slip.hpp"

#include <doctest/doctest.h>

#include "tidemill/testing/program.hpp"

namespace tidemill::cli {

TEST_CASE("option slip: a name with two wrong letters, or the beginning of one name alone, is known") {
    const std::vector<std::string> names{"--help",     "--symbol-rate", "--sample-rate", "--page",
                                         "--page-dir", "--isi",         "--lo"};
    CHECK(meant_instead("--symbl-rat=1M", names) == "; did you mean --symbol-rate?");
    CHECK(meant_instead("--symbolrate", names) == "; did you mean --symbol-rate?");
    CHECK(meant_instead("-page", names) == "; did you mean --page?");
    CHECK(meant_instead("--page-d", names) == "; did you mean --page-dir?");
    CHECK(meant_instead("--sy", names) == "; did you mean --symbol-rate?");
    CHECK(meant_instead("--s", names).empty());
    CHECK(meant_instead("--smbl-rt", names).empty());
    CHECK(meant_instead("--ab", names).empty());
    CHECK(meant_instead("--x", {}).empty());
    CHECK(meant_instead("-", {"--help"}).empty());
    CHECK(meant_instead(std::string(10'000, '-'), names).empty());
}

TEST_CASE("option slip: the verb says which of its options or verbs was meant") {
    CHECK(internal::run_program({"dvbs2", "rx", "x", "--symbl-rate", "1M"})
              .err.ends_with("(see tidemill dvbs2 rx --help); did you mean --symbol-rate?\n"));
    CHECK(internal::run_program({"dvsb2", "rx"}).err.ends_with("; did you mean dvbs2?\n"));
    CHECK(internal::run_program({"dvbs2", "receive"}).err.ends_with("(see tidemill dvbs2 --help)\n"));
}

}  // namespace tidemill::cli
