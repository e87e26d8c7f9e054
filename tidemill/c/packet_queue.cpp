#include "tidemill/c/packet_queue.hpp"

#include <algorithm>

#include "tidemill/io/transport/ts_packet.hpp"

namespace tidemill::c {

PacketQueue::PacketQueue(std::size_t room_packets) : room_bytes_(room_packets * io::kTsPacketBytes) {}

void PacketQueue::put(std::span<const std::uint8_t> packets) {
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return let_go_ || bytes_.size() < room_bytes_; });
        bytes_.insert(bytes_.end(), packets.begin(), packets.end());
    }
    changed_.notify_all();
}

std::size_t PacketQueue::take(std::span<std::uint8_t> to, bool waits) {
    std::size_t count = 0;
    {
        std::unique_lock lock(mutex_);
        if (waits) changed_.wait(lock, [&] { return closed_ || !bytes_.empty(); });
        count = std::min(to.size(), bytes_.size()) / io::kTsPacketBytes * io::kTsPacketBytes;
        const auto end = bytes_.begin() + static_cast<std::ptrdiff_t>(count);
        std::copy(bytes_.begin(), end, to.begin());
        bytes_.erase(bytes_.begin(), end);
    }
    changed_.notify_all();
    return count / io::kTsPacketBytes;
}

void PacketQueue::close() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    changed_.notify_all();
}

void PacketQueue::disable_backpressure() {
    {
        const std::lock_guard lock(mutex_);
        let_go_ = true;
    }
    changed_.notify_all();
}

}  // namespace tidemill::c
