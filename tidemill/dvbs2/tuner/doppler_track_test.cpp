#include "tidemill/dvbs2/tuner/doppler_track.hpp"

#include <doctest/doctest.h>

#include "tidemill/dvbs2/dvbs2_error.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::dvbs2 {

TEST_CASE("doppler track: straight lines between its points, and its ends go on") {
    const DopplerTrack track = parse_doppler_track("# time, Hz\n0, 8000\r\n\n10;-2000\n 12.5\t+1e3 \n");
    CHECK(track.hz_at(-1) == 8000);
    CHECK(track.hz_at(0) == 8000);
    CHECK(track.hz_at(5) == doctest::Approx(3000));
    CHECK(track.hz_at(10) == -2000);
    CHECK(track.hz_at(11.25) == doctest::Approx(-500));
    CHECK(track.hz_at(1e9) == 1000);
}

TEST_CASE("doppler track: what is none is refused with its line") {
    for (const char* bad :
         {"0 1\n1\n", "0 1\n1 2 3", "0 1\nx 2", "0 1\n1 2x", "0 1\n1 nan", "0 1\n1 1e999"}) {
        CAPTURE(bad);
        CHECK_THROWS_WITH_AS(parse_doppler_track(bad), doctest::Contains("line 2"), Dvbs2Error);
    }
    CHECK_THROWS_WITH_AS(parse_doppler_track(""), doctest::Contains("at least one line"), Dvbs2Error);
    CHECK_THROWS_WITH_AS(parse_doppler_track("1 1\n1 2"), doctest::Contains("1 s stands behind 1 s"),
                         Dvbs2Error);
}

TEST_CASE("doppler track: an error in a file names it") {
    const ScratchFolder folder;
    const auto file = folder.put("pass.txt", "0 zero\n");
    CHECK_THROWS_WITH_AS(read_doppler_track(file), doctest::Contains("pass.txt: line 1"), io::IoError);
}

}  // namespace tidemill::dvbs2
