#include <array>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tidemill/c/plugin.h"
#include "tidemill/c/tidemill.h"
#include "tidemill/runtime/graph/graph.hpp"

namespace {

/// Sums of four, times what the text says; of a negative sum it wants nothing to know.
struct Sums {
    explicit Sums(std::string_view text) {
        if (text.empty()) throw std::invalid_argument("a factor is missing: give one");
        const float factor = std::stof(std::string(text));
        auto& sum = graph.add(tidemill::task("sum", tidemill::in<float>("x", 4), tidemill::out<float>("y"),
                                             [factor](auto x, auto y) {
                                                 y[0] = factor * std::accumulate(x.begin(), x.end(), 0.0f);
                                                 if (y[0] < 0) throw std::domain_error("a negative sum");
                                             }));
        graph.bind(inlet["data"], sum["x"]);
        graph.bind(sum["y"], outlet["data"]);
    }
    tidemill::Graph graph;
    tidemill::Inlet<float>& inlet = graph.add<tidemill::Inlet<float>>(4);
    tidemill::Outlet<float>& outlet = graph.add<tidemill::Outlet<float>>(1);
};

}  // namespace

TIDEMILL_STREAM(Sums)  // the tests are the shared object, too

TEST_CASE("c: a stream takes elements in any pieces and gives what its graph makes of them") {
    tidemill_stream* const stream = tidemill_stream_open("", "2");
    REQUIRE_MESSAGE(stream, tidemill_error());
    CHECK(tidemill_stream_in_bytes(stream) == sizeof(float));
    CHECK(tidemill_stream_out_bytes(stream) == sizeof(float));
    constexpr std::size_t kSums = 1000;
    std::vector<float> given(4 * kSums + 3);  // the last three fill no frame
    std::iota(given.begin(), given.end(), 0.0f);
    std::thread feeding([&] {
        for (std::size_t at = 0; at < given.size(); at += 7)
            CHECK(tidemill_stream_push(stream, &given[at], std::min<std::size_t>(7, given.size() - at)) ==
                  TIDEMILL_OK);
        CHECK(tidemill_stream_end(stream) == TIDEMILL_OK);
    });
    std::vector<float> sums;
    std::array<float, 9> piece{};
    std::size_t got = 0;
    while (tidemill_stream_pull(stream, piece.data(), piece.size(), &got) == TIDEMILL_OK && got > 0)
        sums.insert(sums.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(got));
    feeding.join();
    CHECK(tidemill_stream_join(stream) == TIDEMILL_OK);
    CHECK(tidemill_stream_running(stream) == 0);
    REQUIRE(sums.size() == kSums);
    for (std::size_t k = 0; k < kSums; ++k) CHECK(sums[k] == 2 * (16.0f * static_cast<float>(k) + 6));
    tidemill_stream_free(stream);
}

TEST_CASE("c: a stream that nobody empties takes what there is room for, and can be freed") {
    tidemill_stream* const stream = tidemill_stream_open("", "1");
    REQUIRE(stream);
    const std::vector<float> many(100000);
    std::size_t taken = 1;
    std::size_t all = 0;
    for (int i = 0; i < 1000; ++i) {
        REQUIRE(tidemill_stream_try_push(stream, many.data(), many.size(), &taken) == TIDEMILL_OK);
        all += taken;
    }
    CHECK(all < many.size());
    CHECK(tidemill_stream_running(stream) == 1);
    tidemill_stream_free(stream);
}

TEST_CASE("c: what a stream's task throws is told by join") {
    tidemill_stream* const stream = tidemill_stream_open("", "-1");
    REQUIRE(stream);
    const std::array<float, 4> four{1, 1, 1, 1};
    CHECK(tidemill_stream_push(stream, four.data(), four.size()) == TIDEMILL_OK);
    CHECK(tidemill_stream_join(stream) == TIDEMILL_FAILED);
    CHECK(std::string(tidemill_error()).find("a negative sum") != std::string::npos);
    tidemill_stream_free(stream);
}

TEST_CASE("c: what is no stream is refused with a sentence") {
    CHECK(tidemill_stream_open("/nowhere/stream.so", "") == nullptr);
    CHECK(std::string(tidemill_error()).find("/nowhere/stream.so cannot be loaded") == 0);
    CHECK(tidemill_stream_open("libc.so.6", "") == nullptr);
    CHECK(std::string(tidemill_error()).find("tidemill_stream_plugin") != std::string::npos);
    CHECK(tidemill_stream_open("", "") == nullptr);
    CHECK(std::string(tidemill_error()) == "this program makes no stream: a factor is missing: give one");
    CHECK(tidemill_stream_open(nullptr, "") == nullptr);
    std::size_t taken = 0;
    CHECK(tidemill_stream_try_push(nullptr, "", 1, &taken) == TIDEMILL_REFUSED);
    CHECK(tidemill_stream_running(nullptr) == 0);
    tidemill_stream_free(nullptr);
}
