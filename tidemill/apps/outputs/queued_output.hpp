#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "tidemill/apps/outputs/byte_output.hpp"
#include "tidemill/io/network/udp_sender.hpp"

namespace tidemill::cli {

/// How far a place may fall behind, and how long it may take nothing at the end.
struct QueueLimits {
    std::size_t bytes = 8 << 20;
    double signal_s = 1e9;  ///< of the signal that they came in
    io::WhenFull when_full = io::WhenFull::lose;
    std::chrono::milliseconds idle{20};  ///< from then on nothing is kept back for more to come
    std::chrono::milliseconds flush{200};
    std::chrono::milliseconds stall{2000};
    std::chrono::milliseconds stall_in_hurry{500};
};

/// A place with a thread of its own that does the writing. What it is too slow for is lost in whole pieces
/// and counted, or the writer waits.
class QueuedOutput final : public ByteOutput {
  public:
    /// When `hurry` is asked for, a place that takes nothing is given up sooner. Throws NoMoreThreads.
    QueuedOutput(std::unique_ptr<ByteOutput> to, std::stop_token hurry, const QueueLimits& limits = {});
    ~QueuedOutput() override;

    void came_at(const SignalTime& time) override { came_at_ = time; }
    void write(std::span<const std::uint8_t> piece) override;
    void flush() override;
    void close() override;
    bool may_wait() const override { return limits_.when_full == io::WhenFull::wait; }
    OutputAt at() const override;
    void go_on_at(const OutputAt& at) override;
    OutputLosses losses() const override;
    /// Whether nothing waits.
    bool is_empty() const;

  private:
    void work(const std::stop_token& done);
    struct Piece {
        std::vector<std::uint8_t> bytes;
        SignalTime came_at;
    };

    bool has_room(std::size_t bytes) const;
    bool wait_for_piece(std::unique_lock<std::mutex>& lock, const std::stop_token& done);
    void hand_over(Piece piece, std::unique_lock<std::mutex>& lock);
    template <class Act>
    void act(Act act, std::unique_lock<std::mutex>& lock);
    void wait_until_empty();
    bool is_idle() const { return waiting_.empty() && !busy_; }

    std::unique_ptr<ByteOutput> to_;
    std::stop_token hurry_;
    QueueLimits limits_;
    mutable std::mutex mutex_{};
    std::condition_variable_any wake_{};
    std::condition_variable_any handed_over_{};
    SignalTime came_at_{};  // of the writing thread
    std::deque<Piece> waiting_{};
    std::size_t waiting_bytes_ = 0;  // the piece that is being written included
    double waiting_s_ = 0;           // of the signal, without it
    bool busy_ = false;
    bool kept_back_ = false;    // something may be, for more to come
    double piece_lasts_s_ = 0;  // of the signal, the one that is being written
    std::uint64_t pieces_done_ = 0;
    OutputLosses losses_{};         // of the place
    std::uint64_t bytes_lost_ = 0;  // here
    std::string failure_{};
    OutputAt at_{};
    std::jthread thread_;
};

}  // namespace tidemill::cli
