#include "tidemill/apps/outputs/queued_output.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "tidemill/io/io_error.hpp"

namespace tidemill::cli {
namespace {

/// Data that an output of the test was given, and when it may take more.
struct Gate {
    std::mutex mutex{};
    std::condition_variable changed{};
    bool open = false;
    bool ended = false;
    bool asked = false;
    std::string got{};
    std::string fails{};
    double most_waiting_s = 0;

    void let_through() {
        const std::scoped_lock lock(mutex);
        open = true;
        changed.notify_all();
    }
    void wait_until_asked() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return asked; });
    }
};

class GatedOutput final : public ByteOutput {
  public:
    explicit GatedOutput(Gate& gate) : gate_(gate) {}

    void came_at(const SignalTime& time) override {
        gate_.most_waiting_s = std::max(gate_.most_waiting_s, time.waiting_s);
    }
    void write(std::span<const std::uint8_t> piece) override {
        std::unique_lock lock(gate_.mutex);
        gate_.asked = true;
        kept_back_ = piece.size();
        gate_.changed.notify_all();
        gate_.changed.wait(lock, [&] { return gate_.open || gate_.ended; });
        if (!gate_.fails.empty()) throw io::IoError(gate_.fails);
        if (!gate_.open) throw io::IoError("given up");
        gate_.got.append(piece.begin(), piece.end());
    }
    void close() override {}
    void end() noexcept override {
        const std::scoped_lock lock(gate_.mutex);
        gate_.ended = true;
        gate_.changed.notify_all();
    }
    OutputAt at() const override { return {.bytes = gate_.got.size()}; }
    std::uint64_t bytes_kept_back() const override { return kept_back_; }

  private:
    Gate& gate_;
    std::uint64_t kept_back_ = 0;
};

void write_text(ByteOutput& output, const std::string& text) {
    output.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace

TEST_CASE("queued output: nobody waits for a place that takes nothing, and what it misses is counted") {
    Gate gate;
    QueuedOutput output(std::make_unique<GatedOutput>(gate), {}, {.bytes = 10});
    write_text(output, "aaaa");
    gate.wait_until_asked();
    write_text(output, "bbbb");
    write_text(output, "cccc");  // 12 bytes would wait
    CHECK(output.losses().bytes == 4);
    write_text(output, "dd");
    gate.let_through();
    output.close();
    CHECK(gate.got == "aaaabbbbdd");
    CHECK(output.losses().bytes == 4);
}

TEST_CASE(
    "queued output: where whoever writes may wait, all arrives, and not more of the signal waits than may") {
    Gate gate;
    QueuedOutput output(std::make_unique<GatedOutput>(gate), {},
                        {.signal_s = 0.5, .when_full = io::WhenFull::wait});
    std::string sent;
    std::jthread opener([&] {
        gate.wait_until_asked();
        gate.let_through();
    });
    for (char c = 'a'; c <= 'z'; ++c) {
        output.came_at({.from_s = 0.2 * (c - 'a'), .lasts_s = 0.2});
        write_text(output, std::string(3, c));
        sent += std::string(3, c);
    }
    output.close();
    CHECK(gate.got == sent);
    CHECK(gate.most_waiting_s < 0.5);
    CHECK(output.losses().bytes == 0);
}

TEST_CASE("queued output: what is kept is what has arrived") {
    Gate gate;
    QueuedOutput output(std::make_unique<GatedOutput>(gate), {}, {.flush = std::chrono::milliseconds(1)});
    write_text(output, "aaaa");
    gate.wait_until_asked();
    output.flush();
    CHECK(output.at().bytes == 0);
    gate.let_through();
    output.close();
    CHECK(output.at().bytes == 4);
}

TEST_CASE("queued output: a place that fails tells the next who writes, and the rest is counted") {
    Gate gate;
    gate.fails = "no more room";
    QueuedOutput output(std::make_unique<GatedOutput>(gate), {});
    write_text(output, "aaaa");
    write_text(output, "bb");
    gate.let_through();
    CHECK_THROWS_WITH_AS(output.close(), "no more room", io::IoError);
    CHECK_THROWS_WITH_AS(write_text(output, "c"), "no more room", io::IoError);
    CHECK(output.losses().bytes == 7);
}

TEST_CASE("queued output: a place that takes nothing any more is given up at the end") {
    Gate gate;
    QueuedOutput output(std::make_unique<GatedOutput>(gate), {}, {.stall = std::chrono::milliseconds(50)});
    write_text(output, "aaaa");
    write_text(output, "bb");
    CHECK_THROWS_AS(output.close(), io::IoError);
    CHECK(gate.got.empty());
    CHECK(output.losses().bytes == 6);
}

}  // namespace tidemill::cli
