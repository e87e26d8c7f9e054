#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

namespace tidemill::c {

/// Packets that wait to be pulled. A producer waits while there is no room, until backpressure is disabled.
class PacketQueue {
  public:
    explicit PacketQueue(std::size_t room_packets);

    void put(std::span<const std::uint8_t> packets);
    /// Fills `to` with as many as there are; waits, if it may, until there is one or no more come.
    std::size_t take(std::span<std::uint8_t> to, bool waits);
    /// No more come.
    void close();
    /// From now on nobody waits for room: what a reception that stops still delivers, it keeps.
    void disable_backpressure();

  private:
    std::size_t room_bytes_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::uint8_t> bytes_;
    bool closed_ = false;
    bool let_go_ = false;
};

}  // namespace tidemill::c
