#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tidemill/io/live/live_kinds.hpp"
#include "tidemill/io/live/zmq_stream.hpp"

namespace tidemill::io {

namespace internal {
class ZmqSocket;
}

/// Whether a place names a stream of GNU Radio over ZeroMQ: "zmq://host:port", of a PUB sink, or with
/// "?type=pull" of a PUSH sink.
bool is_zmq_place(const std::string& place);

/// Samples from GNU Radio over ZeroMQ. The library is found when such a place is opened.
class ZmqSource final : public LiveSource {
  public:
    /// Connects, in the background; nobody need be there yet. Throws IoError, also without the library.
    explicit ZmqSource(const LiveRequest& request);
    ~ZmqSource() override;

    dsp::SampleFormat format() const override { return format_; }
    std::optional<double> sample_rate_hz() const override { return sample_rate_hz_; }
    bool begin() override { return true; }
    std::size_t read(std::span<std::byte> to) override;
    void end() noexcept override;
    SampleLosses losses() const override;
    std::string remarks() const override;

  private:
    dsp::SampleFormat format_;
    double sample_rate_hz_;
    std::unique_ptr<internal::ZmqSocket> socket_;
    mutable std::mutex mutex_;  // of the stream, while others ask about it
    ZmqStream stream_;
};

/// The kind's line in the table.
std::unique_ptr<LiveSource> open_zmq(const LiveRequest& request);

}  // namespace tidemill::io
