#include "tidemill/dvbs2/streams/gse_receiver.hpp"

#include <algorithm>
#include <utility>

#include "tidemill/io/transport/crc32.hpp"

namespace tidemill::dvbs2 {
namespace {

// TS 102 606-1, 4.2.
constexpr std::size_t kLengthBytes = 2, kCrcBytes = 4;
constexpr std::uint8_t kLabelOf6 = 0, kLabelOf3 = 1, kLabelReused = 3;
constexpr std::uint16_t kFirstEtherType = 0x600;  // below, an extension header follows
constexpr int kLongestExtension = 5;              // in units of two bytes

std::uint16_t gse_number16(std::span<const std::uint8_t> bytes) {
    return static_cast<std::uint16_t>(bytes[0] << 8 | bytes[1]);
}

std::size_t label_bytes(std::uint8_t label_type) {
    return label_type == kLabelOf6 ? 6 : label_type == kLabelOf3 ? 3 : 0;
}

}  // namespace

void GseReceiver::push(Bytes field) {
    ++frame_;
    forget_old();
    last_label_.reset();  // is never that of another frame
    while (field.size() >= kLengthBytes) {
        const bool starts = (field[0] & 0x80) != 0, ends = (field[0] & 0x40) != 0;
        const auto label_type = static_cast<std::uint8_t>(field[0] >> 4 & 3);
        if (!starts && !ends && label_type == 0) return;  // padding up to the end
        const std::size_t length = gse_number16(field) & 0x0fff;
        if (length > field.size() - kLengthBytes) {
            ++counts_.packets_cut_off;
            return;
        }
        take(starts, ends, label_type, field.subspan(kLengthBytes, length));
        field = field.subspan(kLengthBytes + length);
    }
}

void GseReceiver::take(bool starts, bool ends, std::uint8_t label_type, Bytes packet) {
    if (starts && ends) {
        read(label_type, last_label_, packet);
    } else if (starts) {
        start(label_type, packet);
    } else {
        go_on(ends, packet);
    }
}

// The number of the PDU, its length, then what its length counts.
void GseReceiver::start(std::uint8_t label_type, Bytes packet) {
    if (packet.size() < 3) {
        ++counts_.packets_cut_off;
        return;
    }
    const std::uint8_t number = packet[0];
    const Bytes bytes = packet.subspan(3);
    if (const auto before = partials_.find(number); before != partials_.end()) {
        ++counts_.pdus_replaced;
        forget(before);
    }
    Partial partial{.begun = frame_,
                    .total = gse_number16(packet.subspan(1)),
                    .label_type = label_type,
                    .reused = last_label_,
                    .bytes = {bytes.begin(), bytes.end()}};
    // Later packets of this frame may use its label.
    if (label_type != kLabelReused && bytes.size() >= 2 + label_bytes(label_type)) {
        Label label{.size = label_bytes(label_type)};
        std::ranges::copy(bytes.subspan(2, label.size), label.bytes.begin());
        last_label_ = label;
    }
    if (bytes.size() > partial.total) {
        ++counts_.pdus_bad_length;
    } else if (make_room(bytes.size(), number)) {
        waiting_bytes_ += bytes.size();
        partials_.emplace(number, std::move(partial));
    }
}

void GseReceiver::go_on(bool ends, Bytes packet) {
    if (packet.empty()) {
        ++counts_.packets_cut_off;
        return;
    }
    const auto which = partials_.find(packet[0]);
    if (which == partials_.end()) {
        ++counts_.fragments_without_start;
        return;
    }
    const Bytes bytes = packet.subspan(1);
    Partial& partial = which->second;
    if (partial.bytes.size() + bytes.size() > partial.total + (ends ? kCrcBytes : 0)) {
        ++counts_.pdus_bad_length;
        return forget(which);
    }
    if (!make_room(bytes.size(), packet[0])) return forget(which);
    waiting_bytes_ += bytes.size();
    partial.bytes.insert(partial.bytes.end(), bytes.begin(), bytes.end());
    if (ends) finish(which);
}

void GseReceiver::finish(Partials::iterator which) {
    const Partial partial = std::move(which->second);
    waiting_bytes_ -= partial.bytes.size();
    partials_.erase(which);
    if (partial.bytes.size() != partial.total + kCrcBytes) {
        ++counts_.pdus_bad_length;
        return;
    }
    const std::array<std::uint8_t, 2> length = {static_cast<std::uint8_t>(partial.total >> 8),
                                                static_cast<std::uint8_t>(partial.total)};
    if (io::crc32_mpeg(partial.bytes, io::crc32_mpeg(length)) != 0) {
        ++counts_.pdus_bad_crc;
        return;
    }
    read(partial.label_type, partial.reused, Bytes(partial.bytes).first(partial.total));
}

// The total length counts protocol, label, extension headers and the PDU.
void GseReceiver::read(std::uint8_t label_type, const std::optional<Label>& reused, Bytes bytes) {
    if (bytes.size() < 2 + label_bytes(label_type)) {
        ++counts_.packets_cut_off;
        return;
    }
    std::uint16_t protocol = gse_number16(bytes);
    bytes = bytes.subspan(2);
    const auto label = label_of(label_type, reused, bytes);
    if (!label) {
        ++counts_.labels_missing;
        return;
    }
    last_label_ = label;
    if (!skip_extensions(protocol, bytes)) {
        ++counts_.extensions_unknown;
        return;
    }
    ++counts_.pdus;
    give_({protocol, Bytes(label->bytes).first(label->size), bytes});
}

std::optional<GseReceiver::Label> GseReceiver::label_of(std::uint8_t label_type,
                                                        const std::optional<Label>& reused, Bytes& bytes) {
    if (label_type == kLabelReused) return reused;
    Label label{.size = label_bytes(label_type)};
    std::ranges::copy(bytes.first(label.size), label.bytes.begin());
    bytes = bytes.subspan(label.size);
    return label;
}

// An optional one holds its length; without a mandatory one the rest cannot be read. That of a bridged frame
// (RFC 4326, 5.2) means what has an EtherType of its own, too.
bool GseReceiver::skip_extensions(std::uint16_t& protocol, Bytes& bytes) {
    constexpr std::uint16_t kBridged = 0x0001;
    while (protocol < kFirstEtherType) {
        if (protocol == kBridged) {
            protocol = kEthernetProtocol;
            return true;
        }
        const int units = protocol >> 8 & 7;
        const std::size_t more = 2 * static_cast<std::size_t>(units);  // the next type included
        if (units == 0 || units > kLongestExtension || bytes.size() < more) return false;
        protocol = gse_number16(bytes.subspan(more - 2));
        bytes = bytes.subspan(more);
    }
    return true;
}

// The oldest ones go first, but not the one that wants it.
bool GseReceiver::make_room(std::size_t bytes, std::uint8_t but) {
    while (waiting_bytes_ + bytes > limits_.bytes) {
        auto oldest = partials_.end();
        for (auto each = partials_.begin(); each != partials_.end(); ++each) {
            if (each->first == but) continue;
            if (oldest == partials_.end() || each->second.begun < oldest->second.begun) oldest = each;
        }
        ++counts_.pdus_without_room;
        if (oldest == partials_.end()) return false;
        forget(oldest);
    }
    return true;
}

void GseReceiver::forget(Partials::iterator which) {
    waiting_bytes_ -= which->second.bytes.size();
    partials_.erase(which);
}

void GseReceiver::forget_old() {
    for (auto each = partials_.begin(); each != partials_.end();) {
        const auto which = each++;
        if (frame_ - which->second.begun <= limits_.frames) continue;
        ++counts_.pdus_too_old;
        forget(which);
    }
}

}  // namespace tidemill::dvbs2
