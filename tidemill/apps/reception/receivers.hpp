#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tidemill/dvbs2/receiver/band_receiver.hpp"
#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/dvbs2/receiver/rx_decode.hpp"

namespace tidemill::cli {

/// Frames of all carriers, added up.
struct FramesHeard {
    std::uint64_t frames = 0;
    std::uint64_t frames_bad = 0;
    std::uint64_t info_bits = 0;
    std::size_t locked = 0;       ///< carriers whose frames follow one another
    std::size_t with_frames = 0;  ///< carriers of which there were any
};

/// Receivers of one carrier of a source, or of several as branches of one graph.
class Receivers {
  public:
    /// As dvbs2::Receiver.
    Receivers(io::SampleSource& source, const dvbs2::ReceiverConfig& config, dvbs2::RxOutputs outputs);
    /// As dvbs2::BandReceiver.
    Receivers(io::SampleSource& source, std::vector<dvbs2::CarrierOfBand> carriers);

    Graph& graph();
    std::size_t carriers() const { return names_.size(); }

    /// State of a carrier; any thread may ask while it runs.
    dvbs2::ReceptionNow now(std::size_t carrier) const;
    FramesHeard heard() const;
    /// The whole account of a carrier, between runs.
    dvbs2::ReceptionReport report(std::size_t carrier) const;
    /// Share of a device in the decoding, between runs; nothing where there are several carriers.
    dvbs2::LdpcDeviceUse ldpc_device_use() const;
    /// Bits of all carriers; for the thread that runs the sinks.
    std::uint64_t info_bits() const;

    /// Name of a socket or task of a carrier's receiver in the graph.
    std::string name_of(std::size_t carrier, std::string_view name) const;
    /// The task that reads the samples.
    std::string reading_task() const;

  private:
    Receivers(io::SampleSource& source, std::vector<std::string> names,
              std::vector<dvbs2::CarrierOfBand>&& carriers);

    std::variant<dvbs2::Receiver, dvbs2::BandReceiver> all_;
    std::vector<std::string> names_;  // before those of each carrier's tasks
};

/// For receivers whose packets nobody wants.
dvbs2::RxOutputs silent_outputs();

}  // namespace tidemill::cli
