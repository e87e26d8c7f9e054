// Streams of GNU Radio over ZeroMQ, from sockets of libzmq as its sinks open them.
#include "tidemill/io/live/zmq_source.hpp"

#include <array>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"

namespace tidemill::io {
namespace {

/// A PUSH or PUB socket at a port that the system chose; is not there without the library.
class Sink {
  public:
    explicit Sink(int type) : library_(dlopen("libzmq.so.5", RTLD_NOW | RTLD_LOCAL)) {
        if (!library_) return;
        context_ = call<void*>("zmq_ctx_new");
        socket_ = call<void*>("zmq_socket", context_, type);
        call<int>("zmq_bind", socket_, "tcp://127.0.0.1:*");
        std::array<char, 100> endpoint{};
        std::size_t size = endpoint.size();
        constexpr int kLastEndpoint = 32;
        call<int>("zmq_getsockopt", socket_, kLastEndpoint, static_cast<void*>(endpoint.data()), &size);
        place = "zmq" + std::string(endpoint.data()).substr(3);  // behind "tcp"
    }
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;
    ~Sink() {
        if (!library_) return;
        const int no_wait = 0;
        constexpr int kLinger = 17;
        call<int>("zmq_setsockopt", socket_, kLinger, static_cast<const void*>(&no_wait), sizeof no_wait);
        call<int>("zmq_close", socket_);
        call<int>("zmq_ctx_term", context_);
    }
    bool is_there() const {
        if (!library_) MESSAGE("skipped: libzmq5 is not installed");
        return library_ != nullptr;
    }
    void send(const std::string& message, bool more = false) {
        call<int>("zmq_send", socket_, static_cast<const void*>(message.data()), message.size(),
                  more ? 2 : 0);
    }

    std::string place;

  private:
    template <class Result, class... Arguments>
    Result call(const char* name, Arguments... arguments) {
        return reinterpret_cast<Result (*)(Arguments...)>(dlsym(library_, name))(arguments...);
    }

    void* library_;
    void* context_ = nullptr;
    void* socket_ = nullptr;
};

LiveRequest asked(const std::string& place) {
    return {.place = place, .format = dsp::SampleFormat::ci8, .sample_rate_hz = 1e6};
}

}  // namespace

TEST_CASE("zmq: what a PUSH sink sends is pulled") {
    Sink sink(8);
    if (!sink.is_there()) return;
    ZmqSource source(asked(sink.place + "?type=pull"));
    REQUIRE(source.begin());
    sink.send("abcdef");
    sink.send("ghij");
    std::string all;
    std::array<std::byte, 64> block{};
    while (all.size() < 10) all.append(reinterpret_cast<char*>(block.data()), source.read(block));
    CHECK(all == "abcdefghij");
    CHECK(source.remarks().empty());
}

TEST_CASE("zmq: who subscribes to a PUB sink gets what is sent from then on, without the key") {
    Sink sink(1);
    if (!sink.is_there()) return;
    ZmqSource source(asked(sink.place));
    // A subscription takes effect some time later, and there is no event for it.
    std::jthread sending([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            sink.send("key", true);
            sink.send("abcd");
            std::this_thread::yield();
        }
    });
    std::array<std::byte, 4> block{};
    CHECK(source.read(block) == 4);
    CHECK(std::to_integer<char>(block[0]) == 'a');
    CHECK(source.remarks().starts_with("what the sender dropped is not known"));
}

TEST_CASE("zmq: waiting for a sink can be ended") {
    Sink sink(8);
    if (!sink.is_there()) return;
    ZmqSource source(asked("zmq://127.0.0.1:9?type=pull"));
    std::array<std::byte, 4> block{};
    std::thread reader([&] { CHECK(source.read(block) == 0); });
    source.end();
    reader.join();
    CHECK(source.read(block) == 0);
}

TEST_CASE("zmq: names that say no place are refused") {
    CHECK(is_zmq_place("zmq://host:1"));
    for (const char* bad : {"zmq://", "zmq://host", "zmq://host:1?type=req", "zmq://host:1?kind=sub"}) {
        CAPTURE(bad);
        CHECK_THROWS_AS(ZmqSource(asked(bad)), IoError);
    }
}

}  // namespace tidemill::io
