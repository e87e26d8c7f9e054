#include "tidemill/io/live/soapy_list.hpp"

#include <doctest/doctest.h>

#include "tidemill/io/testing/made_soapy.hpp"

namespace tidemill::io {

TEST_CASE("soapy list: radios are told with what they can do") {
    internal::made_soapy() = {};
    const auto found = find_radios(SoapyLibrary(""), "");
    REQUIRE(found.radios.size() == 1);
    const FoundRadio& radio = found.radios[0];
    CHECK(radio.place == "driver=made");
    CHECK(radio.label == "Made up SN 1");
    CHECK(radio.receives);
    CHECK(ranges_text(radio.rates, 1e-6) == "0.225001 to 0.3, 0.900001 to 3.2");
    CHECK(radio.gain_db.most == 49.6);
    CHECK(radio.settings == std::vector<std::string>{"digital_agc", "biastee", "lna_mode"});
    CHECK(internal::made_soapy().devices == 0);
}

TEST_CASE("soapy list: a radio that is in use is listed with why it cannot be asked") {
    internal::made_soapy() = {};
    internal::made_soapy().refusals["make"] = "busy";
    const auto found = find_radios(SoapyLibrary(""), "");
    REQUIRE(found.radios.size() == 1);
    CHECK(found.radios[0].problem.find("busy") != std::string::npos);
}

TEST_CASE("soapy list: ranges are told as people write them") {
    CHECK(ranges_text({}, 1).empty());
    CHECK(ranges_text({{250e3, 250e3}, {1e6, 3.2e6}}, 1e-6) == "0.25, 1 to 3.2");
}

}  // namespace tidemill::io
