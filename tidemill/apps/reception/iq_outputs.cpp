#include "tidemill/apps/reception/iq_outputs.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "tidemill/apps/outputs/output.hpp"
#include "tidemill/apps/outputs/queued_output.hpp"
#include "tidemill/apps/reception/reception.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/dvbs2/standard/modcod_name.hpp"
#include "tidemill/options/standard_streams.hpp"

namespace tidemill::cli {

namespace {

constexpr const char* kIqComment =
    "Lock and MODCODs are marked where samples had been read to when frames came out: to within a few frames";

io::SigmfMetadata described(const io::SampleSource& from, std::optional<double> frequency_hz, bool live) {
    io::SigmfMetadata samples;
    samples.format = from.format();
    samples.sample_rate_hz = from.sample_rate_hz();
    samples.center_frequency_hz = frequency_hz;
    samples.description = kIqComment;
    if (live) samples.datetime = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    return samples;
}

std::uint64_t turn_samples(const io::SampleSource& from) {
    return static_cast<std::uint64_t>(from.sample_rate_hz().value_or(1e6));
}

std::string pls_text(const dvbs2::Pls& pls) {
    const dvbs2::Modcod* const modcod = dvbs2::find_modcod(pls.modcod);
    if (!modcod) return "dummy";
    return fmt::format("{} {}{}", modcod_name(*modcod), name(pls.size), pls.pilots ? " pilots" : "");
}

}  // namespace

std::optional<double> middle_frequency_hz(const ReceptionJob& job) {
    std::optional<double> middle = job.recording.center_frequency_hz;
    if (middle && job.tuning) *middle += job.tuning->offset_hz;
    return middle;
}

IqOutputs::IqOutputs(const IqOptions& options, const ReceptionJob& job, io::SampleSource& from, bool live)
    : from_(from),
      sample_bytes_(dsp::bytes_per_sample(from.format())),
      place_(options.carrier),
      annotations_(turn_samples(from)) {
    const double rate_hz = from.sample_rate_hz().value_or(0);
    if (job.config.symbol_rate_hz > 0) samples_per_symbol_ = rate_hz / job.config.symbol_rate_hz;
    const io::SigmfMetadata samples = described(from, middle_frequency_hz(job), live);
    writing([&] {
        if (!place_.empty()) carrier_ = std::make_unique<IqFile>(place_, samples, annotated_);
    });
    if (carrier_ && live) {
        constexpr double kLeastBytes = 8 << 20;
        const double second = rate_hz * static_cast<double>(sample_bytes_);
        const auto most = static_cast<std::size_t>(std::max(kLeastBytes, second));
        carrier_ = std::make_unique<QueuedOutput>(std::move(carrier_), std::stop_token(),
                                                  QueueLimits{.bytes = most});
    }
    if (options.around_loss.seconds > 0) around_loss_.emplace(options.around_loss, samples, live);
}

std::size_t IqOutputs::read(std::span<std::byte> to) {
    const std::size_t got = from_.read(to);
    if (carrier_) write(to.first(got));
    if (around_loss_ && got > 0) {
        look_for_losses(is_locked());
        around_loss_->take(to.first(got));
    }
    return got;
}

void IqOutputs::look_for_losses(bool locked) {
    for (std::uint64_t losses = losses_.look(locked); losses > 0; --losses) around_loss_->lost();
}

// Without a signal no symbols reach the frames, and their lock stays as it was.
bool IqOutputs::is_locked() const {
    if (!receiver_) return false;
    const dvbs2::ReceptionNow now = receiver_();
    return now.found && now.locked;
}

void IqOutputs::write(std::span<const std::byte> samples) {
    try {
        carrier_->write({reinterpret_cast<const std::uint8_t*>(samples.data()), samples.size()});
    } catch (const Error& error) {
        carrier_failure_ = error.what();
        warn(fmt::format("{} failed: {}", place_, error.what()));
        carrier_.reset();
        return;
    }
    const std::uint64_t lost = carrier_->losses().bytes;
    if (lost == std::exchange(carrier_lost_, lost)) {
        kept_samples_ += samples.size() / sample_bytes_;
    } else if (!gaps_.empty() && gaps_.back().first == kept_samples_) {
        gaps_.back().second += samples.size() / sample_bytes_;
    } else if (gaps_.size() < CarrierAnnotations::kMost) {
        gaps_.emplace_back(kept_samples_, samples.size() / sample_bytes_);
    }
}

void IqOutputs::look(const dvbs2::ReceivedFrame& frame) {
    losses_.frame(frame.gap);
    if (place_.empty()) return;
    const std::uint64_t end = kept_samples_;
    const auto samples = static_cast<std::uint64_t>(std::llround(frame.info.symbols * samples_per_symbol_));
    annotations_.frame(end - std::min(end, samples), end, pls_text(frame.info.pls), frame.gap);
}

void IqOutputs::close() {
    if (around_loss_) {
        // Losses that were still on their way when the last samples were read. The end of all samples is no
        // loss.
        look_for_losses(!receiver_ || receiver_().found);
        around_loss_->close();
    }
    if (!carrier_) return;
    for (const auto& [at, samples] : gaps_) annotations_.missing(at, samples);
    *annotated_ = annotations_.all();
    try {
        carrier_->close();
    } catch (const Error& error) {
        carrier_failure_ = error.what();
    }
}

std::string IqOutputs::failure() const {
    if (!carrier_failure_.empty()) return carrier_failure_;
    return around_loss_ ? around_loss_->failure() : std::string();
}

Json IqOutputs::account() const {
    Json json = Json::object();
    if (!place_.empty())
        json["carrier"] = {{"place", place_},
                           {"samples", kept_samples_.load()},
                           {"bytes_lost", carrier_lost_},
                           {"failure", carrier_failure_.empty() ? Json() : Json(carrier_failure_)}};
    if (around_loss_)
        json["around_loss"] = {
            {"losses", around_loss_->losses()},
            {"recordings", around_loss_->files()},
            {"recordings_removed", around_loss_->files_removed()},
            {"failure", around_loss_->failure().empty() ? Json() : Json(around_loss_->failure())}};
    return json;
}

}  // namespace tidemill::cli
