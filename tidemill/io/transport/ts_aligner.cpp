#include "tidemill/io/transport/ts_aligner.hpp"

#include <algorithm>
#include <utility>

namespace tidemill::io {
namespace {

constexpr std::size_t kStampBytes = 4;  // in front, of 192
constexpr std::size_t kDistances[] = {kTsPacketBytes, kTsPacketBytes + 16, kTsPacketBytes + kStampBytes};
constexpr std::size_t kSyncBytes = 3;  // that make a stream of packets

}  // namespace

TsAligner::TsAligner(std::size_t packet_bytes, std::uint8_t sync)
    : packet_bytes_(packet_bytes), sync_(sync), distances_{packet_bytes} {
    if (packet_bytes == kTsPacketBytes && sync == kTsSyncByte)
        distances_.assign(std::begin(kDistances), std::end(kDistances));
}

void TsAligner::push(std::span<const std::uint8_t> bytes, std::vector<std::uint8_t>& packets) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    while (distance_ > 0 ? step(packets) : search()) {
    }
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(at_));
    base_ += std::exchange(at_, 0);
}

void TsAligner::finish(std::vector<std::uint8_t>& packets) {
    at_end_ = true;
    push({}, packets);
    counts_.bytes_left_out += bytes_.size();
    bytes_.clear();
    base_ = 0;
    distance_ = 0;
    at_end_ = false;
}

// At the end of a stream fewer sync bytes than three have to do; one alone where the stream begins with it.
bool TsAligner::begins_at(std::size_t at, std::size_t distance) const {
    std::size_t found = 0;
    for (; found < kSyncBytes && at + found * distance < bytes_.size(); ++found)
        if (!has_sync(at + found * distance)) return false;
    if (found == kSyncBytes || !at_end_) return found == kSyncBytes;
    const bool is_first = base_ + at <= kStampBytes;
    return at + packet_bytes_ <= bytes_.size() && (found > 1 || is_first);
}

// 0: no packet begins there.
std::size_t TsAligner::distance_at(std::size_t at) const {
    if (!has_sync(at)) return 0;
    if (last_distance_ > 0 && (at_end_ || begins_at(at, last_distance_)))
        return begins_at(at, last_distance_) ? last_distance_ : 0;
    const auto found =
        std::ranges::find_if(distances_, [&](std::size_t distance) { return begins_at(at, distance); });
    return found == distances_.end() ? 0 : *found;
}

bool TsAligner::search() {
    const std::size_t ahead = at_end_ ? 0 : (kSyncBytes - 1) * std::ranges::max(distances_);
    std::size_t at = at_;
    while (at + ahead < bytes_.size() && distance_ == 0) {
        distance_ = distance_at(at);
        at += distance_ == 0 ? 1 : 0;
    }
    const bool has_stamp = distance_ == kTsPacketBytes + kStampBytes;  // of the packet that begins here
    // Stamps in a row may begin with a sync byte, too: their packets follow them.
    if (has_stamp && begins_at(at + kStampBytes, distance_)) at += kStampBytes;
    skip(at - at_);
    if (distance_ == 0) return false;
    if (has_stamp && counts_.bytes_left_out >= kStampBytes) counts_.bytes_left_out -= kStampBytes;
    last_distance_ = distance_;
    return true;
}

// One packet, once it is known what follows it.
bool TsAligner::step(std::vector<std::uint8_t>& packets) {
    const std::size_t next = at_ + distance_, after = next + distance_;
    if (at_ + packet_bytes_ > bytes_.size()) return false;
    const bool is_last = next >= bytes_.size(), is_last_but_one = after >= bytes_.size();
    const bool follows = is_last || has_sync(next);
    if (!at_end_ && (is_last || (!follows && is_last_but_one))) return false;
    const bool is_whole = follows || is_last_but_one || has_sync(after);
    if (is_whole) emit(at_, packets);
    if (!follows) lose(next);
    at_ = is_whole ? std::min(next, bytes_.size()) : at_;
    if (is_whole && !follows && !is_last_but_one) {  // the sync byte of one packet alone is damaged
        distance_ = last_distance_;
        skip(after - next);
    } else if (!is_whole) {
        skip(1);
    }
    return true;
}

void TsAligner::lose(std::size_t at) {
    if (counts_.losses++ == 0) counts_.first_at = base_ + at;
    distance_ = 0;
}

void TsAligner::skip(std::size_t count) {
    at_ += count;
    counts_.bytes_left_out += count;
}

void TsAligner::emit(std::size_t at, std::vector<std::uint8_t>& packets) const {
    const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(at);
    packets.insert(packets.end(), begin, begin + static_cast<std::ptrdiff_t>(packet_bytes_));
}

}  // namespace tidemill::io
