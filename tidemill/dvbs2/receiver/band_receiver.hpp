#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/dvbs2/tuner/tuning.hpp"

namespace tidemill::dvbs2 {

/// One of the carriers of a band that are received together.
struct CarrierOfBand {
    std::string name;  ///< before the names of its tasks: "c1"
    Tuning tuning{};
    ReceiverConfig config{};  ///< its rate and place are those of the tuning
    RxOutputs outputs{};
};

/// Receivers for several carriers of one source as one graph: the samples are read once, and each carrier
/// has a branch of its own, which gives the packets that a Receiver behind a TunedSource gives.
class BandReceiver {
  public:
    /// A graph has room for so many.
    static constexpr std::size_t kMostCarriers = 15;

    /// `source` must outlive the receiver and know its rate. Throws Dvbs2Error as check_tuning(), and for
    /// none or too many carriers.
    BandReceiver(io::SampleSource& source, std::vector<CarrierOfBand> carriers);
    ~BandReceiver();

    Graph& graph();
    std::size_t carriers() const;

    /// State of a carrier's receiver so far; any thread may ask while it runs.
    ReceptionNow now(std::size_t carrier) const;
    /// The whole account of a carrier, between runs. Samples, and what was wrong with them, are those of the
    /// band.
    ReceptionReport report(std::size_t carrier) const;
    /// How far a carrier was followed from its tuning's offset, without what was known; from any thread.
    double followed_hz(std::size_t carrier) const;
    /// Information bits of the frames of all carriers; also for the thread that runs the sinks.
    std::uint64_t info_bits() const;

  private:
    struct Stages;

    std::unique_ptr<Stages> stages_;
};

}  // namespace tidemill::dvbs2
