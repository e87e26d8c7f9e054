#include "tidemill/io/live/vita49_stream.hpp"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "tidemill/io/testing/vita_packets.hpp"

namespace tidemill::io {
namespace {

using internal::VitaPackets;

std::vector<std::byte> all_of(VitaStream& stream) {
    std::vector<std::byte> all;
    std::array<std::byte, 1022> block{};  // ends within a sample
    for (std::size_t got = stream.read(block); got > 0; got = stream.read(block))
        all.insert(all.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(got));
    return all;
}

// Samples of packets that came in this order, the context before them.
std::vector<std::byte> given(VitaStream& stream, const VitaPackets& packets,
                             const std::vector<std::uint64_t>& order) {
    stream.take(packets.context());
    for (const std::uint64_t index : order) stream.take(packets.data(index));
    stream.finish();
    return all_of(stream);
}

// The samples of packets from the first to the last; those that are missing are silent.
std::vector<std::byte> expected(const VitaPackets& packets, const std::vector<std::uint64_t>& order) {
    const auto [first, last] = std::ranges::minmax(order);
    std::vector<std::byte> all;
    for (std::uint64_t index = first; index <= last; ++index) {
        std::vector<std::byte> one = VitaPackets::numbers(index * packets.samples, packets.samples);
        if (std::ranges::find(order, index) == order.end()) std::ranges::fill(one, std::byte{});
        all.insert(all.end(), one.begin(), one.end());
    }
    return all;
}

VitaStream untimed_stream() {
    return VitaStream({.any_class = true, .format = dsp::SampleFormat::ci8, .sample_rate_hz = 1e6});
}

// Samples of packets of two samples without time stamps, each with a number below 256.
std::vector<int> given_untimed(VitaStream& stream, const std::vector<int>& order) {
    for (const int number : order) {
        std::vector<std::byte> packet;
        for (const int byte : {0x10, number & 15, 0, 3, 0, 0, 0, 9, number, 0, 0, 0})
            packet.push_back(static_cast<std::byte>(byte));
        stream.take(packet);
    }
    stream.finish();
    std::vector<int> numbers;
    const auto all = all_of(stream);
    for (std::size_t at = 0; at < all.size(); at += 4) numbers.push_back(std::to_integer<int>(all[at]));
    return numbers;
}

}  // namespace

TEST_CASE("VITA-49 stream: packets that came in order are their samples, with rate and frequency") {
    VitaStream stream({});
    const VitaPackets packets;
    const std::vector<std::uint64_t> order{0, 1, 2, 3, 4, 5};
    CHECK(given(stream, packets, order) == expected(packets, order));
    CHECK(stream.format() == dsp::SampleFormat::ci16_be);
    CHECK(stream.sample_rate_hz() == 1e6);
    CHECK(stream.frequency_hz() == 741.5e6);
    CHECK(stream.counts().remarks().empty());
    CHECK(stream.losses().gaps == 0);
}

TEST_CASE("VITA-49 stream: whatever is lost, doubled and moved by a few places, samples stay in theirs") {
    rc::check([](std::uint32_t seed) {
        std::mt19937 random(seed);
        std::vector<std::pair<double, std::uint64_t>> arrivals;
        constexpr std::uint64_t kPackets = 300;
        for (std::uint64_t index = 0; index < kPackets; ++index) {
            // The first comes first, for it says where all begins.
            const bool is_first = index == 0;
            if (!is_first && random() % 10 == 0) continue;
            arrivals.emplace_back(static_cast<double>(index) + (is_first ? 0 : random() % 4), index);
            if (random() % 10 == 0)
                arrivals.emplace_back(static_cast<double>(index) + 1 + random() % 6, index);
        }
        std::ranges::stable_sort(arrivals, {}, &std::pair<double, std::uint64_t>::first);
        std::vector<std::uint64_t> order;
        for (const auto& [when, index] : arrivals) order.push_back(index);
        VitaStream stream({});
        const VitaPackets packets;
        RC_ASSERT(given(stream, packets, order) == expected(packets, order));
        const std::uint64_t distinct = stream.counts().data;
        RC_ASSERT(distinct + stream.counts().doubled == order.size());
        const std::uint64_t last = *std::ranges::max_element(order);
        RC_ASSERT(stream.losses().samples == (last + 1 - distinct) * packets.samples);
    });
}

TEST_CASE("VITA-49 stream: sixteen lost packets leave no mark in the count, but in the time") {
    VitaStream stream({});
    const VitaPackets packets;
    const std::vector<std::uint64_t> order{0, 1, 18, 19};
    CHECK(given(stream, packets, order) == expected(packets, order));
    CHECK(stream.losses().gaps == 1);
    CHECK(stream.losses().samples == 1600);
}

TEST_CASE("VITA-49 stream: over a second is not filled, but begins anew, once it is sure") {
    VitaStream stream({});
    const VitaPackets packets;
    std::vector<std::uint64_t> order{0, 1};
    for (std::uint64_t index = 20'000; index < 20'040; ++index) order.push_back(index);
    CHECK(given(stream, packets, order).size() == (2 + 25) * 400);
    CHECK(stream.counts().out_of_time == 15);
    CHECK(stream.counts().restarts == 1);
    CHECK(stream.losses().gaps == 1);
    CHECK(stream.losses().samples == 0);
    CHECK(stream.counts().remarks() ==
          "packets not taken: 15 out of time; the time stamps jumped 1 times by over a second, which is not "
          "filled");
}

TEST_CASE("VITA-49 stream: a sender that begins again behind its time is followed, one packet is not") {
    VitaStream stream({});
    const VitaPackets packets;
    std::vector<std::uint64_t> order;
    for (std::uint64_t index = 500; index < 600; ++index) order.push_back(index);
    order.push_back(3);
    for (std::uint64_t index = 600; index < 610; ++index) order.push_back(index);
    CHECK(given(stream, packets, order).size() == 110 * 400);
    CHECK(stream.counts().late == 1);
    for (std::uint64_t index = 10; index < 50; ++index) stream.take(packets.data(index));
    CHECK(stream.counts().restarts == 1);
    CHECK(all_of(stream) == expected(packets, [] {
              std::vector<std::uint64_t> followed;
              for (std::uint64_t index = 25; index < 50; ++index) followed.push_back(index);
              return followed;
          }()));
}

TEST_CASE("VITA-49 stream: what is of another stream, class or kind, or cut, is counted and left out") {
    VitaStream stream({});
    const VitaPackets packets;
    const VitaPackets others{.stream = 8};
    const std::vector<std::uint64_t> order{0, 1, 2};
    stream.take(packets.context());
    for (const std::uint64_t index : order) {
        stream.take(others.data(index));
        std::vector<std::byte> changed = packets.data(index);
        stream.take(std::span(changed).first(changed.size() - 4));
        changed[9] = std::byte{0x12};  // of the organisation
        stream.take(changed);
        changed[0] = std::byte{0x58};  // a kind
        stream.take(changed);
        stream.take(packets.data(index));
    }
    CHECK(all_of(stream) == expected(packets, order));
    CHECK(stream.counts().remarks() ==
          "packets not taken: 3 cut off or no VITA-49, 3 neither data nor context, 3 of another class, 2 of "
          "another stream, 1 before rate and format were known");
}

TEST_CASE("VITA-49 stream: another class is taken where any is wanted, another stream where it is named") {
    VitaStream stream({.stream = 8, .any_class = true});
    const VitaPackets packets{.stream = 8};
    stream.take(packets.context());
    std::vector<std::byte> changed = packets.data(0);
    changed[9] = std::byte{0x12};
    stream.take(changed);
    stream.take(VitaPackets().data(1));
    CHECK(all_of(stream) == expected(packets, {0}));
    CHECK(stream.counts().other_stream == 1);
}

TEST_CASE("VITA-49 stream: without context, what is missing is named; the user may tell") {
    const VitaPackets packets;
    VitaStream untold({});
    untold.take(packets.data(0));
    CHECK_FALSE(untold.has_begun());
    CHECK(untold.counts().early == 1);
    CHECK(untold.missing() ==
          "packets carry neither rate nor format: give --rate and --format (such as ci16_be)");
    VitaStream told({.format = dsp::SampleFormat::ci16_be, .sample_rate_hz = 1e6});
    told.take(packets.data(0));
    told.take(packets.data(2));
    told.finish();
    CHECK(all_of(told) == expected(packets, {0, 2}));
}

TEST_CASE("VITA-49 stream: what comes at another rate than at the beginning is counted until it fits again") {
    VitaStream stream({});
    const VitaPackets packets;
    stream.take(packets.context());
    stream.take(packets.data(0));
    stream.take(VitaPackets{.rate_hz = 2e6}.context());
    stream.take(packets.data(1));
    stream.take(packets.context());
    stream.take(packets.data(2));
    stream.finish();
    CHECK(all_of(stream) == expected(packets, {0, 2}));
    CHECK(stream.counts().other_form == 1);
    CHECK(stream.sample_rate_hz() == 1e6);
}

TEST_CASE("VITA-49 stream: without time stamps the count puts in order, and a gap has no length") {
    VitaStream stream = untimed_stream();
    CHECK(given_untimed(stream, {1, 2, 4, 3, 5, 7}) == std::vector<int>{1, 2, 3, 4, 5, 7});
    CHECK(stream.losses().gaps == 1);
    CHECK(stream.losses().samples == 0);
    CHECK(stream.counts().unmeasured_gaps == 1);
}

TEST_CASE("VITA-49 stream: without time stamps a gap of up to eleven packets costs no others, and is told") {
    for (int lost = 1; lost <= 11; ++lost) {
        CAPTURE(lost);
        VitaStream stream = untimed_stream();
        std::vector<int> order;
        for (int packet = 0; packet < 100; ++packet)
            if (packet < 40 || packet >= 40 + lost) order.push_back(packet);
        CHECK(given_untimed(stream, order) == order);
        CHECK(stream.losses().gaps == 1);
        CHECK(stream.counts().unmeasured_gaps == 1);
        CHECK(stream.counts().doubled == 0);
    }
}

TEST_CASE("VITA-49 stream: without time stamps doubled packets are left out, a long gap is soon believed") {
    VitaStream doubled = untimed_stream();
    CHECK(given_untimed(doubled, {0, 1, 1, 2, 1, 2, 3, 0, 4}) == std::vector<int>{0, 1, 2, 3, 4});
    CHECK(doubled.losses().gaps == 0);
    VitaStream lost = untimed_stream();
    CHECK(given_untimed(lost, {0, 1, 14, 15, 16, 17, 18, 19}) == std::vector<int>{0, 1, 17, 18, 19});
    CHECK(lost.counts().unmeasured_gaps == 1);
}

TEST_CASE("VITA-49 stream: the first stream of which data come is taken, whoever told of himself before") {
    VitaStream stream({});
    const VitaPackets packets;
    stream.take(VitaPackets{.rate_hz = 5e6, .stream = 9}.context());
    CHECK(stream.counts().remarks() == "1 context packets came, and no data");
    stream.take(packets.context());
    stream.take(packets.data(0));
    CHECK(stream.sample_rate_hz() == 1e6);
    stream.take(VitaPackets{.rate_hz = 5e6, .stream = 9}.context());
    stream.take(packets.data(1));
    CHECK(all_of(stream) == expected(packets, {0, 1}));
    CHECK(stream.counts().remarks() == "packets not taken: 1 of another stream");
}

TEST_CASE("VITA-49 stream: a rate that has changed is told while it lasts") {
    VitaStream stream({});
    const VitaPackets packets;
    stream.take(packets.context());
    stream.take(packets.data(0));
    stream.take(VitaPackets{.rate_hz = 2e6}.context());
    for (std::uint64_t index = 1; index < 16; ++index) stream.take(packets.data(index));
    CHECK(stream.trouble().empty());
    stream.take(packets.data(16));
    CHECK(stream.trouble() ==
          "packets come with 2000000 instead of 1000000 samples per second, and are not taken");
    stream.take(packets.context());
    stream.take(packets.data(17));
    CHECK(stream.trouble().empty());
}

}  // namespace tidemill::io
