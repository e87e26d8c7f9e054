#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tidemill/apps/reception/iq_outputs.hpp"
#include "tidemill/apps/reception/receivers.hpp"
#include "tidemill/apps/reception/rx_outcome.hpp"
#include "tidemill/apps/reception/rx_outputs.hpp"
#include "tidemill/apps/reception/rx_status.hpp"
#include "tidemill/io/transport/ts_services.hpp"

namespace tidemill::cli {

/// One carrier of a reception: what is known of it, and where what it brings goes.
struct RxCarrier {
    std::size_t number = 0;  ///< in a scan, where it is one of several
    RxOutcome outcome{};
    std::optional<io::TsServices> services{};  ///< of its first stream, where somebody looks
    std::optional<IqOutputs> iq{};
    std::optional<RxOutputWriter> writer{};
};

/// A reception before it runs: how its samples are read, and the carriers in them with their places.
class RxCarriers {
  public:
    /// Throws IoError, WrongUsage or JobFailed.
    RxCarriers(const ReceptionOptions& reception, const RxOutputOptions& outputs,
               std::vector<io::TunDevice> interfaces);

    /// None where the user wanted no more before they were found.
    bool empty() const { return all_.empty(); }
    std::size_t size() const { return all_.size(); }
    RxCarrier& operator[](std::size_t carrier) { return *all_[carrier]; }
    const RxCarrier& operator[](std::size_t carrier) const { return *all_[carrier]; }

    bool is_band() const { return is_band_; }
    /// How the run goes, with the job that reads the samples: the only carrier's, or that of all together.
    RxOutcome& whole() { return is_band_ ? together_ : all_.front()->outcome; }
    const RxOutcome& whole() const { return is_band_ ? together_ : all_.front()->outcome; }

    /// Receivers of these; without outputs nobody wants what they hear.
    std::unique_ptr<Receivers> receivers(io::SampleSource& source, bool with_outputs);
    /// State of a carrier's receiver, for the line of each second.
    RxStatus status_of(const Receivers& receivers, const CountedSource& samples, std::size_t carrier) const;

    /// Ends the pacing of data that are still to come. From any thread.
    void hurry();
    /// Closes all places, also where one cannot be; throws JobFailed then.
    void close();
    /// Result of the reception; nothing is left here.
    CarriersOutcome take();

  private:
    void add_all(const ReceptionOptions& reception, const RxOutputOptions& outputs);
    void add(std::size_t number, ReceptionJob its_job, const RxOutputOptions& its_outputs,
             std::vector<io::TunDevice> interfaces = {});
    std::vector<dvbs2::CarrierOfBand> of_band(bool with_outputs);

    bool is_band_;
    RxOutcome together_{};  // of several
    std::vector<std::unique_ptr<RxCarrier>> all_{};
};

}  // namespace tidemill::cli
