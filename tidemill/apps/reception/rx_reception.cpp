#include "tidemill/apps/reception/rx_reception.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>

#include <fmt/format.h>

#include "tidemill/apps/reception/rx_line.hpp"
#include "tidemill/apps/running/watch.hpp"
#include "tidemill/base/cli_error.hpp"
#include "tidemill/io/network/udp_sender.hpp"
#include "tidemill/options/standard_streams.hpp"

namespace tidemill::cli {

namespace {

using Clock = std::chrono::steady_clock;

// Address that a player on this machine opens.
std::string player_of(const std::vector<std::string>& places) {
    const auto sent = std::ranges::find_if(places, [](const auto& place) { return io::is_udp_url(place); });
    return sent == places.end() ? "" : fmt::format("udp://@:{}", io::parse_udp_url(*sent).port);
}

// Behind their end signals are locked no more; what counts is whether they were.
std::string progress_of_several(const Receivers& receivers, const CountedSource& samples, double elapsed_s) {
    FramesHeard heard = receivers.heard();
    if (samples.has_ended()) heard.locked = heard.with_frames;
    return fmt::format("{}   {} of {} locked  {:8} frames  {:7.2f} Mb/s  {} bad",
                       clock_text(samples.time_s(elapsed_s)), heard.locked, receivers.carriers(),
                       heard.frames, static_cast<double>(heard.info_bits) / elapsed_s / 1e6,
                       heard.frames_bad);
}

}  // namespace

RxReception::RxReception(const RxRunOptions& how, const RxExtraOptions& beside, RxCarriers& carriers)
    : how_(how),
      beside_(beside),
      carriers_(carriers),
      source_(open()),
      counted_(*source_, carriers.whole().job.stream.get()),
      receivers_(carriers.receivers(kept_samples(), true)),
      watched_(how.running, receivers_->graph()),
      status_(beside.status, asked()),
      journal_(how.journal.empty() ? nullptr : std::make_unique<Journal>(std::filesystem::path(how.journal))),
      saver_(iq_saver()),
      show_(show()),
      kept_(how.checkpoint, receivers_->graph()) {
    if (carriers[0].iq) carriers[0].iq->watch([this] { return receivers_->now(0); });
    count_seam();
    counted_.also_to(saver_.get());
    watched_.ends_with([&carriers] {
        if (const auto& stream = carriers.whole().job.stream) stream->end();
        carriers.hurry();
    });
}

// A live input has gone on since its last packet was written, or its last checkpoint.
void RxReception::count_seam() {
    namespace fs = std::filesystem;
    const auto& ring = carriers_.whole().job.stream;
    if (!ring || !kept_.written()) return;
    fs::file_time_type last = *kept_.written();
    for (const std::string& place : carriers_[0].outcome.outputs.packets) {
        std::error_code none;
        if (fs::is_regular_file(place, none) && fs::file_size(place, none) > 0)
            last = std::max(last, fs::last_write_time(place));
    }
    const std::chrono::duration<double> gone = fs::file_time_type::clock::now() - last;
    ring->missed_before(
        static_cast<std::uint64_t>(std::max(0.0, gone.count()) * ring->sample_rate_hz().value_or(0)));
}

// Where a tuner stands between the band and the receiver, the band may be looked at, too.
std::unique_ptr<io::SampleSource> RxReception::open() {
    ReceptionJob& job = carriers_.whole().job;
    const bool follows = !carriers_.is_band();
    if (!beside_.page.any() || !(job.tuning || carriers_.is_band())) return open_source(job, {}, follows);
    const auto tap = [this](std::unique_ptr<io::SampleSource> from) {
        auto tapped = std::make_unique<BandTap>(std::move(from));
        band_ = tapped.get();
        return tapped;
    };
    return open_source(job, tap, follows);
}

io::SampleSource& RxReception::kept_samples() {
    if (!beside_.iq.any()) return counted_;
    const ReceptionJob& job = carriers_.whole().job;
    return carriers_[0].iq.emplace(beside_.iq, job, counted_, job.stream != nullptr);
}

std::unique_ptr<IqSaver> RxReception::iq_saver() const {
    if (beside_.page.folder.empty()) return nullptr;
    io::SigmfMetadata metadata;
    metadata.format = source_->format();
    metadata.sample_rate_hz = source_->sample_rate_hz();
    metadata.center_frequency_hz = middle_frequency_hz(carriers_.whole().job);
    return std::make_unique<IqSaver>(beside_.page.folder, metadata);
}

std::unique_ptr<RxShow> RxReception::show() {
    if (!beside_.page.any()) return nullptr;
    auto show = std::make_unique<RxShow>(*receivers_, counted_, band_, saver_.get());
    show->place_band(-carriers_.whole().job.carrier_hz.value_or(0));
    for (std::size_t k = 0; k < carriers_.size(); ++k)
        show->add(carriers_.status_of(*receivers_, counted_, k), carriers_[k].services.emplace(),
                  place_of(k));
    return show;
}

// The tuners of a band give what a receiver takes of one carrier.
RxLabel RxReception::place_of(std::size_t carrier) const {
    const RxOutcome& outcome = carriers_[carrier].outcome;
    const dvbs2::ReceiverConfig& config = outcome.job.config;
    RxLabel place{.carrier = carrier,
                  .name = carriers_.whole().job.recording.data_path.string(),
                  .tuned_hz = config.tuned_hz,
                  .rolloff = config.rolloff,
                  .player = player_of(outcome.outputs.packets)};
    if (carriers_.is_band()) {
        place.number = carriers_[carrier].number;
        place.input_rate_hz =
            dvbs2::tuned_rate_hz(source_->sample_rate_hz().value_or(0), config.symbol_rate_hz);
        return place;
    }
    place.input_rate_hz = source_->sample_rate_hz().value_or(0);
    place.format = source_->format();
    return place;
}

std::vector<StatusSources> RxReception::asked() const {
    std::vector<StatusSources> asked;
    for (std::size_t k = 0; k < carriers_.size(); ++k) {
        asked.push_back({carriers_.status_of(*receivers_, counted_, k)});
        if (carriers_.is_band()) asked.back().carrier = carriers_[k].number;
    }
    return asked;
}

RunOptions RxReception::run_options() {
    RunOptions how{.observers = how_.observers};
    how.journal = journal_.get();
    if (show_) how.observers.push_back(&show_->run().observer());
    kept_.put_into(how);
    return how;
}

// On a terminal the state all the time; in a log it is written when it changes.
std::string RxReception::progress(double elapsed_s) const {
    if (!Watch::draws()) return {};
    if (carriers_.is_band()) return progress_of_several(*receivers_, counted_, elapsed_s);
    RxView view = carriers_.status_of(*receivers_, counted_, 0).view_at(elapsed_s);
    view.now.locked |= counted_.has_ended() && view.now.totals.frames > 0;
    return state_line(view);
}

// However fast a recording is received, its changes are reported in its own time, and its page has looks at
// it as a report has room for.
void RxReception::look_by_samples(RxGuard& guard, RxPage& page) {
    constexpr double kPageLooks = 480;
    const io::Recording& recording = carriers_.whole().job.recording;
    const double lasts_s = static_cast<double>(recording.samples) / recording.sample_rate_hz.value_or(1);
    counted_.each_seconds(RxGuard::kPeriod_s, [&guard] { guard.look_for_locks(); });
    if (show_) counted_.each_seconds(lasts_s / kPageLooks, [&page] { page.look(); });
}

// A live input needs them only while its samples wait: they come at their own pace, and one core mostly does.
bool RxReception::needs_more_cores() const {
    const auto& stream = carriers_.whole().job.stream;
    return !stream || stream->is_half_full();
}

void RxReception::go(GraphRun& run, RxGuard& guard, RxPage& page) {
    if (!how_.running.stop.stop_possible())
        for (std::size_t k = 0; k < carriers_.size(); ++k)
            for (const std::string& place : carriers_[k].outcome.outputs.packets)
                tell("{}", watch_hint(place));
    const RxGuard::Watched guarded(guard, asked(), counted_);
    std::optional<RxPage::Shown> shown;
    if (show_) shown.emplace(page, *show_);
    run.is_steady_when([this] { return needs_more_cores() && receivers_->info_bits() > 0; });
    if (!counted_.ring()) look_by_samples(guard, page);
    const auto start = Clock::now();
    watched_.go(
        run, run_options(),
        [this, start] { return progress(std::chrono::duration<double>(Clock::now() - start).count()); },
        [this](const Schedule& schedule) {
            if (show_) show_->run().follow(schedule);
        });
}

// That it cannot be written affects no other report.
void RxReception::write_report(const RxPage& page) {
    if (!show_) return;
    try {
        page.write_report(*show_);
    } catch (const JobFailed& error) {
        carriers_.whole().report_failure = error.what();
    }
}

void RxReception::close(const GraphRun& run, const RxPage& page) {
    if (auto& iq = carriers_[0].iq) {
        iq->close();
        carriers_[0].outcome.iq = iq->account();
        carriers_[0].outcome.iq_failure = iq->failure();
    }
    // A place that failed costs the account of the run nothing.
    std::exception_ptr failure;
    try {
        carriers_.close();
    } catch (const JobFailed&) {
        failure = std::current_exception();
    }
    status_.close();
    watched_.write(run);
    write_report(page);
    if (failure) std::rethrow_exception(failure);
}

}  // namespace tidemill::cli
