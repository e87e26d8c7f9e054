#include "tidemill/fec/bch.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>
#include <rapidcheck.h>

#include "tidemill/fec/internal/bch_remainder.hpp"

using namespace tidemill::fec;

namespace {

using Bytes = std::vector<std::uint8_t>;

std::size_t bytes(int bits) {
    return static_cast<std::size_t>(bits / 8);
}

bool bit(const Bytes& word, int index) {
    return word[bytes(index)] >> (7 - index % 8) & 1;
}

Bytes random_codeword(const Dvbs2Code& code, std::mt19937& random) {
    Bytes message(bytes(code.k_bch));
    std::ranges::generate(message, [&] { return static_cast<std::uint8_t>(random()); });
    Bytes codeword(bytes(code.k_ldpc));
    BchEncoder(code).encode(message, codeword);
    return codeword;
}

// Flips `count` different bits at random places.
void damage(Bytes& word, int count, std::mt19937& random) {
    std::set<std::size_t> places;
    while (static_cast<int>(places.size()) < count) places.insert(random() % (8 * word.size()));
    for (const std::size_t place : places) word[place / 8] ^= static_cast<std::uint8_t>(0x80 >> place % 8);
}

// Multiplication in the field by shift and subtract, without the tables under test.
unsigned slow_multiply(unsigned a, unsigned b, FrameSize frame_size) {
    const unsigned top = frame_size == FrameSize::normal ? 0x10000 : 0x4000;
    const unsigned polynomial = frame_size == FrameSize::normal ? 0x1002D : 0x402B;
    unsigned product = 0;
    for (; b != 0; b >>= 1, a = (a << 1) & top ? a << 1 ^ polynomial : a << 1) product ^= b & 1 ? a : 0;
    return product;
}

// The codeword's polynomial at alpha^exponent, by Horner's rule.
unsigned value_at(const Bytes& word, int exponent, FrameSize frame_size) {
    unsigned point = 1;
    for (int i = 0; i < exponent; ++i) point = slow_multiply(point, 2, frame_size);
    unsigned value = 0;
    for (int i = 0; i < static_cast<int>(8 * word.size()); ++i) {
        value = slow_multiply(value, point, frame_size) ^ static_cast<unsigned>(bit(word, i));
    }
    return value;
}

std::string generator_hex(const Dvbs2Code& code) {
    Bytes message(bytes(code.k_bch));
    message.back() = 1;
    Bytes codeword(bytes(code.k_ldpc));
    BchEncoder(code).encode(message, codeword);
    std::string hex;
    for (std::size_t i = message.size(); i < codeword.size(); ++i) {
        hex += "0123456789abcdef"[codeword[i] >> 4];
        hex += "0123456789abcdef"[codeword[i] & 15];
    }
    return hex;
}

}  // namespace

TEST_CASE("the message 1 is encoded as the generator polynomial") {
    // Products of the minimal polynomials of EN 302 307-1, tables 6a and 6b, without the leading 1.
    CHECK(generator_hex(dvbs2_code(FrameSize::normal, CodeRate::r9_10)) ==
          "1c07255f712797bd19fc6d7504f9662b");
    CHECK(generator_hex(dvbs2_code(FrameSize::normal, CodeRate::r2_3)) ==
          "60150cedfc2a331f6a785703efd12301b8bb6591");
    CHECK(generator_hex(dvbs2_code(FrameSize::normal, CodeRate::r1_2)) ==
          "4e260e83845c511c50cf2cd8dc350889034785f7660255e7");
    CHECK(generator_hex(dvbs2_code(FrameSize::short_, CodeRate::r8_9)) ==
          "4062dbea9869b262cd23a39069528fe7d7d11905a5");
}

TEST_CASE("codewords vanish at alpha to alpha^2t, and not beyond") {
    for (const Dvbs2Code& code :
         {dvbs2_code(FrameSize::normal, CodeRate::r1_4), dvbs2_code(FrameSize::short_, CodeRate::r1_2)}) {
        std::mt19937 random(1);
        const Bytes codeword = random_codeword(code, random);
        for (int j = 1; j <= 2 * code.bch_correctable; ++j)
            CHECK(value_at(codeword, j, code.frame_size) == 0);
        CHECK(value_at(codeword, 2 * code.bch_correctable + 1, code.frame_size) != 0);
    }
}

TEST_CASE("no error is no correction; 1 to t errors are put right, wherever they are") {
    for (const Dvbs2Code& code : dvbs2_codes()) {
        CAPTURE(name(code.frame_size));
        CAPTURE(name(code.rate));
        const BchDecoder decoder(code);
        std::mt19937 random(20);
        for (int errors = 0; errors <= code.bch_correctable; ++errors) {
            const Bytes sent = random_codeword(code, random);
            Bytes received = sent;
            damage(received, errors, random);
            CHECK(decoder.decode(received) == BchResult{true, errors});
            CHECK(received == sent);
        }
    }
}

TEST_CASE("any pattern of up to t errors is put right") {
    CHECK(rc::check([] {
        const Dvbs2Code code = dvbs2_codes()[*rc::gen::inRange<std::size_t>(0, dvbs2_codes().size())];
        const int errors = *rc::gen::inRange(0, code.bch_correctable + 1);
        std::mt19937 random(*rc::gen::arbitrary<std::uint32_t>());
        const Bytes sent = random_codeword(code, random);
        Bytes received = sent;
        damage(received, errors, random);
        RC_ASSERT(BchDecoder(code).decode(received) == (BchResult{true, errors}));
        RC_ASSERT(received == sent);
    }));
}

TEST_CASE("errors at the first and last bits of message and parity are put right") {
    for (const Dvbs2Code& code : dvbs2_codes()) {
        std::mt19937 random(3);
        const Bytes sent = random_codeword(code, random);
        Bytes received = sent;
        received.front() ^= 0x80;
        received[bytes(code.k_bch) - 1] ^= 0x01;
        received[bytes(code.k_bch)] ^= 0x80;
        received.back() ^= 0x01;
        CHECK(BchDecoder(code).decode(received) == BchResult{true, 4});
        CHECK(received == sent);
    }
}

TEST_CASE("more than t errors are nearly always noticed, and then the word is left alone") {
    // About one word in t! looks like another codeword's neighbour; shortening removes more of those.
    for (const Dvbs2Code& code : dvbs2_codes()) {
        const BchDecoder decoder(code);
        std::mt19937 random(40);
        for (int extra = 1; extra <= 6; ++extra) {
            Bytes received = random_codeword(code, random);
            damage(received, code.bch_correctable + extra, random);
            const Bytes before = received;
            CHECK(decoder.decode(received) == BchResult{false, 0});
            CHECK(received == before);
        }
    }
}

TEST_CASE("an apparent error in the part that shortening removed is a failure") {
    // Remainder of x^k_ldpc, the first power that is not sent: one error there explains these syndromes.
    for (const Dvbs2Code& code : dvbs2_codes()) {
        Bytes message(bytes(code.k_bch) + 1);
        message.front() = 1;
        const BchRemainder::Word remainder = BchRemainder(code).of_message(message);
        Bytes received(bytes(code.k_ldpc));
        for (std::size_t i = 0; i < bytes(code.bch_parity()); ++i) {
            received[bytes(code.k_bch) + i] = BchRemainder::byte(remainder, i);
        }
        CHECK(BchDecoder(code).decode(received) == BchResult{false, 0});
    }
}

TEST_CASE("every instruction set divides alike, messages of any length") {
    std::mt19937 random(5);
    for (const Dvbs2Code& code : dvbs2_codes()) {
        const BchRemainder divider(code);
        std::vector<std::size_t> sizes{bytes(code.k_bch), bytes(code.k_ldpc)};
        for (std::size_t size = 0; size < 100; ++size) sizes.push_back(size);
        for (const std::size_t size : sizes) {
            Bytes message(size);
            for (std::uint8_t& byte : message) byte = static_cast<std::uint8_t>(random());
            std::vector<BchRemainder::Word> remainders;
            for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
                hwy::SetSupportedTargetsForTest(target);
                hwy::GetChosenTarget().Update(hwy::SupportedTargets());
                remainders.push_back(divider.of_message(message));
            }
            CHECK(std::ranges::adjacent_find(remainders, std::not_equal_to{}) == remainders.end());
        }
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}
