#include "tidemill/io/recordings/digest_check.hpp"

#include <algorithm>
#include <cctype>
#include <span>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/io/files/internal/background_digest.hpp"
#include "tidemill/io/files/sha512.hpp"
#include "tidemill/io/recordings/recording.hpp"
#include "tidemill/machine/platform_error.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::io {
namespace {

std::string metadata(const std::string& digest) {
    return fmt::format(R"({{"global": {{"core:datatype": "ci8", "core:sha512": "{}"}}, "captures": [{{}}]}})",
                       digest);
}

}  // namespace

TEST_CASE("digest check: data that are not those of the metadata are noticed by their digest") {
    if (!Sha512::is_available()) {
        MESSAGE("skipped: no libcrypto");
        return;
    }
    const ScratchFolder folder;
    const std::string data(3000000, 'x');
    Sha512 sha;
    sha.update(std::as_bytes(std::span(data)));
    folder.put("r.sigmf-meta", metadata(sha.finish()));
    folder.put("r.sigmf-data", data);
    CHECK(check_digest(open_recording(folder / "r")).empty());
    folder.put("r.sigmf-data", data.substr(2));
    CHECK(check_digest(open_recording(folder / "r")).find("SHA-512") != std::string::npos);
    CHECK(check_digest(open_recording(folder.put("r.ci8", data))).empty());
}

TEST_CASE("digest check: the letters of a digest may be of either case") {
    const ScratchFolder folder;
    folder.put("r.sigmf-data", "xxxx");
    Sha512 sha;
    sha.update(std::as_bytes(std::span("xxxx", 4)));
    std::string digest = sha.finish();
    std::ranges::transform(digest, digest.begin(), [](unsigned char c) { return std::toupper(c); });
    folder.put("r.sigmf-meta", metadata(digest));
    CHECK(check_digest(open_recording(folder / "r")).empty());
}

TEST_CASE("digest beside: where the system has no thread left, it is done without, and is the same") {
    const internal::StartThread refused = [](const auto&) -> std::jthread {
        throw NoMoreThreads("none left");
    };
    const std::string data(3000000, 'x');
    Sha512 sha;
    sha.update(std::as_bytes(std::span(data)));
    const std::string digest = sha.finish();
    internal::BackgroundDigest beside(refused);
    beside.update(std::as_bytes(std::span(data)).first(1234567));
    beside.update(std::as_bytes(std::span(data)).subspan(1234567));
    CHECK(beside.finish() == digest);
}

}  // namespace tidemill::io
