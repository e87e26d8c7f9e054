#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace tidemill::dvbs2 {

/// The protocol of a whole frame of Ethernet: transparent bridging.
inline constexpr std::uint16_t kEthernetProtocol = 0x6558;

/// A packet of a network, as generic stream encapsulation carried it.
struct GsePdu {
    std::uint16_t protocol;               ///< EtherType: 0x0800 for IPv4
    std::span<const std::uint8_t> label;  ///< for whom: 3 or 6 bytes, none for all
    std::span<const std::uint8_t> bytes;
};

/// How much may wait for its end, and how long.
struct GseLimits {
    std::size_t bytes = 1 << 20;
    std::uint64_t frames = 256;  ///< TS 102 606-1, 4.2: a PDU is whole within so many
};

/// Counts of GSE packets, complete and not.
struct GseCounts {
    std::uint64_t pdus = 0;                     ///< given out
    std::uint64_t packets_cut_off = 0;          ///< longer than what was left of the frame, or too short
    std::uint64_t fragments_without_start = 0;  ///< or behind one that was given up
    std::uint64_t pdus_bad_crc = 0;
    std::uint64_t pdus_bad_length = 0;
    std::uint64_t pdus_replaced = 0;  ///< another one began under the same number
    std::uint64_t pdus_too_old = 0;
    std::uint64_t pdus_without_room = 0;
    std::uint64_t labels_missing = 0;  ///< that of the packet before was to be used, and there was none
    std::uint64_t extensions_unknown = 0;
};

/// Takes packets out of the data fields of a continuous generic stream (GSE, TS 102 606-1): whole ones, and
/// those in fragments, with the CRC checked. Labels and optional extension headers are read. Any frame may be
/// missing. What waits for its end is bounded in bytes and in frames.
class GseReceiver {
  public:
    using Give = std::function<void(const GsePdu& pdu)>;

    explicit GseReceiver(Give give, const GseLimits& limits = {}) : give_(std::move(give)), limits_(limits) {}

    /// The data field of the next frame.
    void push(std::span<const std::uint8_t> field);

    const GseCounts& counts() const { return counts_; }
    /// Bytes of fragments that wait.
    std::size_t waiting_bytes() const { return waiting_bytes_; }

  private:
    using Bytes = std::span<const std::uint8_t>;

    /// A label of any kind.
    struct Label {
        std::array<std::uint8_t, 6> bytes{};
        std::size_t size = 0;
    };
    struct Partial {
        std::uint64_t begun = 0;  // in which frame
        std::size_t total = 0;    // of what is sent, less its CRC
        std::uint8_t label_type = 0;
        std::optional<Label> reused{};
        std::vector<std::uint8_t> bytes{};
    };
    using Partials = std::map<std::uint8_t, Partial>;

    void take(bool starts, bool ends, std::uint8_t label_type, Bytes packet);
    void start(std::uint8_t label_type, Bytes packet);
    void go_on(bool ends, Bytes packet);
    void finish(Partials::iterator which);
    void read(std::uint8_t label_type, const std::optional<Label>& reused, Bytes bytes);
    std::optional<Label> label_of(std::uint8_t label_type, const std::optional<Label>& reused, Bytes& bytes);
    bool skip_extensions(std::uint16_t& protocol, Bytes& bytes);
    bool make_room(std::size_t bytes, std::uint8_t but);
    void forget(Partials::iterator which);
    void forget_old();

    Give give_;
    GseLimits limits_;
    std::uint64_t frame_ = 0;
    Partials partials_{};
    std::size_t waiting_bytes_ = 0;
    std::optional<Label> last_label_{};  // in this frame
    GseCounts counts_{};
};

}  // namespace tidemill::dvbs2
