#include "tidemill/io/digest_check.hpp"

#include <algorithm>
#include <cctype>
#include <span>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/io/internal/digest_beside.hpp"
#include "tidemill/io/recording.hpp"
#include "tidemill/io/sha512.hpp"
#include "tidemill/platform/platform_error.hpp"
#include "tidemill/testing/scratch_folder.hpp"

namespace tidemill::io {
namespace {

std::string metadata(const std::string& digest) {
    return fmt::format(R"({{"global": {{"core:datatype": "ci8", "core:sha512": "{}"}}, "captures": [{{}}]}})",
                       digest);
}

}  // namespace

TEST_CASE("digest check: data that are not those of the metadata are noticed by their digest") {
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

TEST_CASE("digest check: begun beside other work it says the same, whenever it is asked or given up") {
    const ScratchFolder folder;
    const std::string data(5000000, 'x');
    folder.put("r.sigmf-data", data);
    const auto claim = [&](const std::string& digest) {
        folder.put("r.sigmf-meta", metadata(digest));
        DigestCheck check(open_recording(folder / "r"));
        check.begin();
        return check;
    };
    Sha512 sha;
    sha.update(std::as_bytes(std::span(data)));
    std::string digest = sha.finish();
    CHECK(claim(digest).disagreement().empty());
    { const DigestCheck given_up = claim(digest); }
    std::ranges::transform(digest, digest.begin(), [](unsigned char c) { return std::toupper(c); });
    CHECK(claim(digest).disagreement().empty());
    digest[5] = digest[5] == 'A' ? 'B' : 'A';
    CHECK(claim(digest).disagreement().find("SHA-512") != std::string::npos);
}

TEST_CASE("digest check: where the system has no thread left, it is done without, and says the same") {
    const internal::StartThread refused = [](const auto&) -> std::jthread {
        throw NoMoreThreads("none left");
    };
    const ScratchFolder folder;
    const std::string data(3000000, 'x');
    Sha512 sha;
    sha.update(std::as_bytes(std::span(data)));
    const std::string digest = sha.finish();
    internal::DigestBeside beside(refused);
    beside.update(std::as_bytes(std::span(data)).first(1234567));
    beside.update(std::as_bytes(std::span(data)).subspan(1234567));
    CHECK(beside.finish() == digest);
    folder.put("r.sigmf-meta", metadata(digest));
    for (const std::string& found : {data, data.substr(2)}) {
        folder.put("r.sigmf-data", found);
        DigestCheck check(open_recording(folder / "r"));
        check.begin(refused);
        CHECK(check.disagreement().empty() == (found == data));
    }
}

}  // namespace tidemill::io
