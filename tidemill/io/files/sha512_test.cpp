#include "tidemill/io/files/sha512.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/io/files/internal/background_digest.hpp"

namespace tidemill::io {
namespace {

std::string digest_of(std::string_view text, std::size_t piece) {
    Sha512 sha;
    for (std::size_t i = 0; i < text.size(); i += piece) {
        sha.update(std::as_bytes(std::span(text.substr(i, piece))));
    }
    return sha.finish();
}

}  // namespace

TEST_CASE("sha512: the examples of FIPS 180-4 come out, in one piece or in many") {
    if (!Sha512::is_available()) {
        MESSAGE("skipped: no libcrypto");
        return;
    }
    constexpr std::string_view kAbcDigest =
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f";
    constexpr std::string_view kLongText =
        "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
        "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";
    constexpr std::string_view kLongDigest =
        "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
        "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909";
    CHECK(digest_of("abc", 3) == kAbcDigest);
    for (const std::size_t piece : {1U, 7U, 111U, 112U}) {
        CHECK(digest_of(kLongText, piece) == kLongDigest);
    }
}

TEST_CASE("sha512: the pieces do not matter around the borders of a block") {
    for (const std::size_t length : {111U, 112U, 119U, 120U, 127U, 128U, 129U, 239U, 240U, 256U}) {
        const std::string text(length, 'x');
        CHECK(digest_of(text, 1) == digest_of(text, length));
        CHECK(digest_of(text, 50) == digest_of(text, length));
    }
}

TEST_CASE("sha512: made beside the writing it is the same, with more than may wait and with nothing") {
    CHECK(internal::BackgroundDigest().finish() == digest_of("", 1));
    const std::string text(11'000'000, 'x');
    internal::BackgroundDigest beside;
    Sha512 own;
    for (const std::size_t piece : {9'000'000U, 1U, 0U, 70'000U}) {
        beside.update(std::as_bytes(std::span(text).first(piece)));
        own.update(std::as_bytes(std::span(text).first(piece)));
    }
    CHECK(beside.finish() == own.finish());
}

}  // namespace tidemill::io
