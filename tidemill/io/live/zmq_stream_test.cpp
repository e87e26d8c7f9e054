#include "tidemill/io/live/zmq_stream.hpp"

#include <array>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace tidemill::io {
namespace {

using namespace std::string_literals;

std::string little(std::uint64_t value) {
    std::string bytes;
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
    return bytes;
}

// As GNU Radio's sinks write it; `tags` as they serialise them, `count` of them.
std::string header(std::uint64_t offset, const std::string& tags = "", std::uint64_t count = 0) {
    return "\xF0\x5F\x01"s + little(offset) + little(count) + tags;
}

std::string one_after_another(const std::vector<std::string>& parts) {
    std::string all;
    for (const std::string& part : parts) all += part;
    return all;
}

// Samples of ci8 whose I and Q are their numbers.
std::string samples(int first, int count) {
    std::string bytes;
    for (int n = first; n < first + count; ++n) bytes += std::string(2, static_cast<char>(n));
    return bytes;
}

std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text));
}

std::string all_of(ZmqStream& stream) {
    std::string all;
    std::array<std::byte, 7> block{};  // ends within a sample
    for (std::size_t got = stream.read(block); got > 0; got = stream.read(block))
        all.append(reinterpret_cast<const char*>(block.data()), got);
    return all;
}

ZmqStream made_stream(bool drops = true) {
    return {dsp::SampleFormat::ci8, 1e3, drops};
}

}  // namespace

TEST_CASE("zmq: bare samples are samples, and that nobody knows what was dropped is said of PUB alone") {
    ZmqStream published = made_stream(), pushed = made_stream(false);
    for (ZmqStream* stream : {&published, &pushed}) {
        stream->take(bytes_of(samples(0, 10)));
        stream->take(bytes_of(samples(10, 3)));
        CHECK(all_of(*stream) == samples(0, 13));
    }
    CHECK(published.remarks().starts_with("what the sender dropped is not known"));
    CHECK(pushed.remarks().empty());
}

TEST_CASE("zmq: offsets of tag headers show what was dropped, and silence takes its place") {
    ZmqStream stream = made_stream();
    stream.take(bytes_of(header(1000) + samples(0, 10)));
    stream.take(bytes_of(header(1010) + samples(10, 10)));
    stream.take(bytes_of(header(1050) + samples(50, 10)));
    CHECK(all_of(stream) == samples(0, 20) + std::string(60, '\0') + samples(50, 10));
    CHECK(stream.losses().gaps == 1);
    CHECK(stream.losses().samples == 30);
    CHECK(stream.remarks().empty());
}

TEST_CASE("zmq: tags of all kinds are left out, nested ones too") {
    const std::string key = "\x02\x00\x07rx_rate"s;
    const std::string number = "\x04\x41\x32\x4f\x80\x00\x00\x00\x00"s;
    const std::string pair = one_after_another({"\x07", key, "\x07", number, "\x06"});
    const std::string numbers = "\x0a\x88\x00\x00\x00\x02\x01\x00"s + std::string(8, 'x');
    const std::string tuple = "\x0c\x00\x00\x00\x03"s + "\x00\x01"s + "\x03\x00\x00\x00\x05"s;
    const std::string tags = one_after_another(
        {little(1), key, number, "\x06", little(2), key, pair, "\x06", little(3), key, numbers, tuple});
    const std::string message = header(7, tags, 3) + samples(0, 5);
    const auto read = parse_tag_header(bytes_of(message));
    REQUIRE(read);
    CHECK(read->offset == 7);
    CHECK(read->bytes == message.size() - 10);
    for (std::size_t size = 0; size < read->bytes; ++size) {
        CAPTURE(size);
        CHECK_FALSE(parse_tag_header(bytes_of(message).first(size)));
    }
}

TEST_CASE("zmq: counts of tags and values that no message could hold end at once") {
    CHECK_FALSE(parse_tag_header(bytes_of(header(0, "", ~0ULL) + samples(0, 50))));
    CHECK_FALSE(
        parse_tag_header(bytes_of(header(0, little(0) + "\x08\xff\xff\xff\xff"s, 1) + samples(0, 50))));
    CHECK_FALSE(parse_tag_header(
        bytes_of(header(0, little(0) + "\x0a\x0b\xff\xff\xff\xff\x01\x00"s, 1) + samples(0, 50))));
    CHECK_FALSE(parse_tag_header(bytes_of(header(0, little(0) + std::string(100000, '\x07'), 1))));
}

TEST_CASE("zmq: offsets that go back or on by over a second are another beginning, which is said") {
    ZmqStream stream = made_stream();
    for (const std::uint64_t offset : {5000, 5010, 0, 10, 2000})
        stream.take(bytes_of(header(offset) + samples(0, 10)));
    CHECK(all_of(stream).size() == 100);
    CHECK(stream.losses().gaps == 2);
    CHECK(stream.losses().samples == 0);
    CHECK(stream.remarks() ==
          "the sender's offsets jumped 2 times back or by over a second, which is not filled");
}

TEST_CASE("zmq: where items are vectors, offsets count those") {
    ZmqStream stream = made_stream();
    for (const std::uint64_t offset : {0, 2, 4, 8})
        stream.take(bytes_of(header(offset) + samples(static_cast<int>(offset * 5), 10)));
    CHECK(all_of(stream) == samples(0, 30) + std::string(20, '\0') + samples(40, 10));
    CHECK(stream.losses().samples == 10);
}

TEST_CASE("zmq: a sender that begins anew with or without tag headers is read on") {
    ZmqStream stream = made_stream();
    stream.take(bytes_of(samples(0, 10)));
    stream.take(bytes_of(header(500) + samples(10, 10)));
    for (int i = 0; i < 15; ++i) stream.take(bytes_of(samples(99, 10)));
    CHECK(all_of(stream) == samples(0, 20));
    stream.take(bytes_of(samples(20, 10)));
    stream.take(bytes_of(samples(30, 10)));
    stream.take(bytes_of(header(7) + samples(40, 10)));
    CHECK(all_of(stream) == samples(20, 30));
    CHECK(stream.losses().gaps == 0);
    CHECK(stream.remarks() == "15 messages without a tag header were not taken");
}

TEST_CASE("zmq: messages that fit nothing are counted") {
    ZmqStream stream = made_stream();
    stream.take(bytes_of(header(0) + samples(0, 10)));
    stream.take(bytes_of(samples(0, 10)));
    stream.take(bytes_of(header(10) + "abc"));
    stream.take({});
    stream.take(bytes_of(header(10) + samples(10, 10)));
    CHECK(all_of(stream) == samples(0, 20));
    CHECK(stream.remarks() ==
          "1 messages without a whole number of samples were not taken; 2 messages without a tag header were "
          "not "
          "taken");
}

}  // namespace tidemill::io
