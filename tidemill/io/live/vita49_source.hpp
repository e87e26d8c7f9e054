#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "tidemill/io/live/live_kinds.hpp"
#include "tidemill/io/live/vita49_stream.hpp"
#include "tidemill/io/network/udp_receiver.hpp"

namespace tidemill::io {

/// Where VITA-49 packets come to or go to: "vita49://host:port", also a multicast group, with settings behind
/// a question mark: interface=NAME, stream=ID, class=any.
struct VitaAddress {
    NetworkAddress address;
    std::optional<std::uint32_t> stream{};
    bool any_class = false;
};

bool is_vita_place(const std::string& place);

/// Throws IoError saying what is expected.
VitaAddress parse_vita_place(const std::string& place);

/// Samples that come as VITA-49 packets over UDP.
class VitaSource final : public LiveSource {
  public:
    /// Listens at once; throws IoError. `patience` is how long packets may leave rate and format open.
    explicit VitaSource(const LiveRequest& request,
                        std::chrono::milliseconds patience = std::chrono::milliseconds(2000));

    dsp::SampleFormat format() const override { return stream_.format(); }
    std::optional<double> sample_rate_hz() const override;
    bool begin() override;
    std::size_t read(std::span<std::byte> to) override;
    void end() noexcept override { receiver_.end(); }
    SampleLosses losses() const override;
    std::optional<double> center_frequency_hz() const override;
    std::string trouble() const override;
    std::string remarks() const override;

    std::uint16_t port() const { return receiver_.port(); }

  private:
    bool take_next(std::optional<std::chrono::milliseconds> at_most);

    std::string place_;
    std::chrono::milliseconds patience_;
    mutable std::mutex mutex_;  // of the stream, while others ask about it
    VitaStream stream_;
    UdpReceiver receiver_;
};

/// The kind's line in the table.
std::unique_ptr<LiveSource> open_vita(const LiveRequest& request);

}  // namespace tidemill::io
