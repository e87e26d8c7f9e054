#include "tidemill/apps/reception/rx_carriers.hpp"

#include <algorithm>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "tidemill/apps/reception/rx_line.hpp"
#include "tidemill/apps/reception/scan_text.hpp"
#include "tidemill/apps/running/watch.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/options/standard_streams.hpp"

namespace tidemill::cli {

namespace {

// The packets of the first stream that comes are those of its services.
void also_count(std::optional<io::TsServices>& services, dvbs2::RxOutputs& also) {
    also.streams.packets = [&services, before = also.streams.packets, first = std::optional<std::uint8_t>()](
                               std::span<const std::uint8_t> packets, std::uint8_t stream) mutable {
        if (before) before(packets, stream);
        if (!first) first = stream;
        if (services && *first == stream) services->look(packets);
    };
}

// Keepers of samples learn which frames were in them.
void also_tell(std::optional<IqOutputs>& iq, dvbs2::RxOutputs& also) {
    also.frames = [&iq, others = also.frames](const dvbs2::ReceivedFrame& frame) {
        if (iq) iq->look(frame);
        if (others) others(frame);
    };
}

// None where the user wants no more.
std::vector<NumberedCarrier> choose(const ReceptionOptions& options, ReceptionJob& band) {
    try {
        return choose_all(options, band);
    } catch (const JobFailed&) {
        if (!gives_up(band)) throw;
        return {};
    }
}

void check_number_of(const std::vector<NumberedCarrier>& chosen) {
    constexpr std::size_t kMost = dvbs2::BandReceiver::kMostCarriers;
    if (chosen.size() <= kMost) return;
    throw JobFailed(
        fmt::format("{} carriers are there, and {} can be received at once: name one with --carrier N",
                    chosen.size(), kMost));
}

// Symbols per second, by which outputs are timed; 0: unknown.
double clock_hz(const ReceptionJob& job) {
    if (job.config.symbol_rate_hz > 0) return job.config.symbol_rate_hz;
    return job.recording.sample_rate_hz.value_or(0) / 2;
}

// The stream outlives receivers; null: a recording.
void know_stream(const io::SampleRing* stream, dvbs2::ReceiverConfig& config) {
    config.live = stream != nullptr;
    if (stream) config.short_of_time = [stream] { return stream->is_short_of_time(); };
}

}  // namespace

RxCarriers::RxCarriers(const ReceptionOptions& reception, const RxOutputOptions& outputs,
                       std::vector<io::TunDevice> interfaces)
    : is_band_(reception.of_all_carriers()) {
    if (is_band_)
        add_all(reception, outputs);
    else
        add(0, prepare(reception), outputs, std::move(interfaces));
}

void RxCarriers::add_all(const ReceptionOptions& reception, const RxOutputOptions& outputs) {
    together_.job = prepare_band(reception);
    together_.interrupted = together_.job.interrupted;
    if (together_.interrupted) return;
    const auto chosen = choose(reception, together_.job);
    together_.interrupted = gives_up(together_.job);
    if (together_.interrupted) return;
    check_number_of(chosen);
    for (const auto& [number, heard] : chosen) {
        add(number, job_of_carrier(reception, together_.job, heard), outputs_of(outputs, number));
        tell("carrier {}  {}\n", number, carrier_options(heard));
    }
}

void RxCarriers::add(std::size_t number, ReceptionJob its_job, const RxOutputOptions& its_outputs,
                     std::vector<io::TunDevice> interfaces) {
    RxCarrier& carrier = *all_.emplace_back(std::make_unique<RxCarrier>());
    carrier.number = number;
    ReceptionJob& job = carrier.outcome.job = std::move(its_job);
    know_stream(whole().job.stream.get(), job.config);
    RxOutputOptions& outputs = carrier.outcome.outputs = its_outputs;
    outputs.live = job.config.live;
    outputs.symbol_rate_hz = clock_hz(job);
    if (outputs.symbol_rate_hz == 0 && outputs.paced && outputs.udp_mbps == 0 &&
        std::ranges::any_of(outputs.places(), is_network_output))
        job.warnings.emplace_back(
            "without the sample rate nobody knows how long the signal lasts, and all leaves for the network "
            "at once: give --rate, or --udp-rate");
    RxOutputOptions heard = outputs;
    also_count(carrier.services, heard.also);
    also_tell(carrier.iq, heard.also);
    carrier.writer.emplace(heard, std::move(interfaces));
}

std::vector<dvbs2::CarrierOfBand> RxCarriers::of_band(bool with_outputs) {
    std::vector<dvbs2::CarrierOfBand> band;
    for (const auto& carrier : all_) {
        const ReceptionJob& job = carrier->outcome.job;
        band.push_back({.name = fmt::format("c{}", carrier->number),
                        .tuning = *job.tuning,
                        .config = job.config,
                        .outputs = with_outputs ? carrier->writer->outputs() : silent_outputs()});
    }
    return band;
}

std::unique_ptr<Receivers> RxCarriers::receivers(io::SampleSource& source, bool with_outputs) {
    if (is_band_) return std::make_unique<Receivers>(source, of_band(with_outputs));
    RxCarrier& one = *all_.front();
    return std::make_unique<Receivers>(source, one.outcome.job.config,
                                       with_outputs ? one.writer->outputs() : silent_outputs());
}

RxStatus RxCarriers::status_of(const Receivers& receivers, const CountedSource& samples,
                               std::size_t carrier) const {
    return {[&receivers, carrier] { return receivers.now(carrier); }, all_[carrier]->writer->monitor(),
            samples};
}

void RxCarriers::hurry() {
    for (const auto& carrier : all_) carrier->writer->hurry();
}

void RxCarriers::close() {
    std::exception_ptr failure;
    for (const auto& carrier : all_) {
        try {
            carrier->writer->close();
        } catch (const JobFailed&) {
            failure = std::current_exception();
        }
    }
    if (failure) std::rethrow_exception(failure);
}

CarriersOutcome RxCarriers::take() {
    CarriersOutcome taken;
    for (const auto& carrier : all_) taken.carriers.push_back({carrier->number, std::move(carrier->outcome)});
    taken.together = std::move(together_);
    return taken;
}

}  // namespace tidemill::cli
