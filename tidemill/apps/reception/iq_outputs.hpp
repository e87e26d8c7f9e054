#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tidemill/apps/outputs/carrier_annotations.hpp"
#include "tidemill/apps/outputs/iq_file.hpp"
#include "tidemill/apps/outputs/loss_recorder.hpp"
#include "tidemill/apps/outputs/loss_watch.hpp"
#include "tidemill/base/json.hpp"
#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/io/live/sample_source.hpp"

namespace tidemill::cli {

struct ReceptionJob;

/// Samples of a receiver's input that are to be kept.
struct IqOptions {
    std::string carrier{};  ///< all of them, as a SigMF recording; empty: no
    LossOptions around_loss{};

    bool any() const { return !carrier.empty() || around_loss.seconds > 0; }
};

/// The samples of a carrier on their way to the receiver, tuned and resampled where that is done, of which
/// some are kept. Written beside the reception: what a disk is too slow for is lost where the input is live,
/// and reported.
class IqOutputs final : public io::SampleSource {
  public:
    /// `from` outlives this. Throws JobFailed or WrongUsage.
    IqOutputs(const IqOptions& options, const ReceptionJob& job, io::SampleSource& from, bool live);

    dsp::SampleFormat format() const override { return from_.format(); }
    std::optional<double> sample_rate_hz() const override { return from_.sample_rate_hz(); }
    io::BandMove moved() const override { return from_.moved(); }
    double seconds_at(double sample) const override { return from_.seconds_at(sample); }
    std::uint64_t restarts() const override { return from_.restarts(); }
    std::vector<io::SourceControl> controls() const override { return from_.controls(); }
    void control(std::size_t index, double value) override { from_.control(index, value); }
    std::size_t read(std::span<std::byte> to) override;

    /// Sets the receiver whose lock is watched; it outlives the run.
    void watch(std::function<dvbs2::ReceptionNow()> receiver) { receiver_ = std::move(receiver); }
    /// Takes a frame that the receiver's sink has got. By another thread than the one that reads.
    void look(const dvbs2::ReceivedFrame& frame);

    /// No more come.
    void close();

    /// Samples that were kept, and why not all.
    Json account() const;
    std::string failure() const;

  private:
    bool is_locked() const;
    void look_for_losses(bool locked);
    void write(std::span<const std::byte> samples);

    io::SampleSource& from_;
    std::size_t sample_bytes_;
    double samples_per_symbol_ = 2;
    std::string place_;
    std::shared_ptr<IqAnnotations> annotated_ = std::make_shared<IqAnnotations>();
    std::unique_ptr<ByteOutput> carrier_{};  // null: none wanted, or failed
    std::string carrier_failure_{};
    std::uint64_t carrier_lost_ = 0;  // bytes
    std::optional<LossRecorder> around_loss_{};
    LossWatch losses_{};
    std::function<dvbs2::ReceptionNow()> receiver_{};
    std::atomic<std::uint64_t> kept_samples_{0};                   // in the recording of the carrier
    CarrierAnnotations annotations_;                               // of the sink's thread
    std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps_{};  // of the reading thread: where, how many
};

/// Where the middle of what the receiver takes lies on the air, where that is known.
std::optional<double> middle_frequency_hz(const ReceptionJob& job);

}  // namespace tidemill::cli
