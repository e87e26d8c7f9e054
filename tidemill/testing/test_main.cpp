#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    // RapidCheck draws a new seed in every run by default; a seed given from outside wins.
    setenv("RC_PARAMS", "seed=20140301", /*overwrite=*/0);
    // The choice of a test is of no use to any other, and none of the user's business.
    setenv("TIDEMILL_CHOICES", "", /*overwrite=*/0);
    return doctest::Context(argc, argv).run();
}
