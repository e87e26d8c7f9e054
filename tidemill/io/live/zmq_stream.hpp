#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "tidemill/io/live/internal/sample_pieces.hpp"
#include "tidemill/io/live/live_source.hpp"

namespace tidemill::io {

/// Header of GNU Radio's sinks before samples where they pass tags on.
struct TagHeader {
    std::uint64_t offset = 0;  ///< of the first item, from the beginning of the flow graph
    std::size_t bytes = 0;     ///< that the header takes
};

/// Reads such a header; empty where a message does not begin with one.
std::optional<TagHeader> parse_tag_header(std::span<const std::byte> message);

/// Makes samples of the messages of a stream of GNU Radio: bare ones, or behind headers with tags, whose
/// offsets show what was dropped; that is given out as silence. Knows no sockets.
class ZmqStream {
  public:
    /// `drops`: whether the sender may drop messages, as PUB does and PUSH does not.
    ZmqStream(dsp::SampleFormat format, double sample_rate_hz, bool drops);

    void take(std::span<const std::byte> message);

    /// Gives out whole samples, as many as there are and fit.
    std::size_t read(std::span<std::byte> to) { return pieces_.read(to, sample_bytes_); }

    const SampleLosses& losses() const { return losses_; }
    std::uint64_t messages() const { return messages_; }
    std::uint64_t not_taken() const { return cut_ + headless_; }

    /// Oddities, in words; empty where there are none.
    std::string remarks() const;

  private:
    bool lacks_header();
    void take_step(std::uint64_t offset);

    std::size_t sample_bytes_;
    double sample_rate_hz_;
    bool drops_;
    internal::SamplePieces pieces_;
    SampleLosses losses_;
    std::uint64_t messages_ = 0;  // taken
    std::uint64_t cut_ = 0;       // without a whole number of samples
    std::uint64_t headless_ = 0;  // where others have headers
    int headless_in_a_row_ = 0;
    std::uint64_t restarts_ = 0;       // offsets that jumped
    std::optional<bool> has_headers_;  // of the latest that was taken
    std::optional<std::uint64_t> last_offset_;
    std::uint64_t last_samples_ = 0;
    std::uint64_t samples_per_item_ = 1;  // more where items are vectors
};

}  // namespace tidemill::io
