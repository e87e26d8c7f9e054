#include "tidemill/apps/reception/page/page_address.hpp"

#include <doctest/doctest.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::cli {
namespace {

std::string place(const std::string& text) {
    const PageAddress found = parse_page_place(text);
    return found.address + " " + std::to_string(found.port);
}

}  // namespace

TEST_CASE("page place: this machine alone, unless an address is told") {
    CHECK(place("127.0.0.1") == "127.0.0.1 0");
    CHECK(place("8080") == "127.0.0.1 8080");
    CHECK(place("localhost:80") == "127.0.0.1 80");
    CHECK(place("0.0.0.0") == "0.0.0.0 0");
    CHECK(place("192.168.1.5:8080") == "192.168.1.5 8080");
    CHECK(place("::1") == "::1 0");
    CHECK(place("[::1]:8080") == "::1 8080");
    CHECK(place("[fe80::2]") == "fe80::2 0");
}

TEST_CASE("page place: what is none is refused") {
    for (const char* text : {"", "0", "65536", "-1", "0x50", "example.org", "127.0.0.1:", "127.0.0.1:x",
                             ":80", "[::1]:0", "1.2.3.4:99999", "[", "1e3"}) {
        CAPTURE(text);
        CHECK_THROWS_WITH_AS(parse_page_place(text), doctest::Contains("192.168.1.5"), WrongUsage);
    }
}

TEST_CASE("page place: a password is the first line of its file") {
    const ScratchFolder folder;
    folder.put("secret", "correct horse\nbattery\n");
    folder.put("empty", "\n");
    CHECK(password_of_file(folder / "secret") == "correct horse");
    CHECK_THROWS_WITH_AS(password_of_file(folder / "empty"), doctest::Contains("there is no password"),
                         io::IoError);
    CHECK_THROWS_WITH_AS(password_of_file(folder / "missing"), doctest::Contains("cannot be read"),
                         io::IoError);
    CHECK_THROWS_WITH_AS(password_of_file(folder / ""), doctest::Contains("--page-password-file"),
                         io::IoError);
    CHECK_THROWS_WITH_AS(password_of_file("/dev/zero"), doctest::Contains("more than 1024 bytes"),
                         io::IoError);
    for (const char* text : {"correct horse", "correct horse\r\nbattery\r\n", "correct horse\n"}) {
        folder.put("secret", text);
        CHECK(password_of_file(folder / "secret") == "correct horse");
    }
}

}  // namespace tidemill::cli
