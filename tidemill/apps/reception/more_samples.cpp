#include "tidemill/apps/reception/more_samples.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>

#include <fmt/format.h>

#include "tidemill/apps/running/watch.hpp"
#include "tidemill/io/files/number_text.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/io/live/stream_reader.hpp"

namespace tidemill::cli {

namespace {

// With the beginning before it; beyond that samples are lost, and counted by the ring.
constexpr std::size_t kMostTaken = 32 << 20;

double seconds_of(const ReceptionJob& job, std::size_t bytes) {
    const std::size_t size = dsp::bytes_per_sample(job.recording.format);
    return static_cast<double>(bytes / size) / job.recording.sample_rate_hz.value_or(1);
}

// A log says it once.
std::string waiting_text(const ReceptionJob& job) {
    const double looked_at_s = job.passed_s + seconds_of(job, job.beginning.size());
    if (Watch::draws())
        return fmt::format("no signal in the first {}: waiting for one", io::seconds_text(looked_at_s));
    return job.passed_s == 0 ? "no signal yet: waiting for one" : "";
}

}  // namespace

TakenMeanwhile::TakenMeanwhile(ReceptionJob& job) : job_(job) {
    if (job.stream && job.stream->loses())
        thread_ = std::jthread([this](const std::stop_token& stop) { take(stop); });
}

TakenMeanwhile::~TakenMeanwhile() {
    thread_ = {};
    job_.beginning.insert(job_.beginning.end(), taken_.begin(), taken_.end());
}

void TakenMeanwhile::take(const std::stop_token& stop) {
    constexpr std::chrono::milliseconds kPatience{20};
    std::array<std::byte, 1 << 16> piece;
    try {
        while (!stop.stop_requested() && taken_.size() + piece.size() < kMostTaken) {
            const std::size_t count = job_.stream->read(piece, kPatience);
            taken_.insert(taken_.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(count));
        }
    } catch (const io::IoError&) {  // its end; what came before it is there
    }
}

bool wait_for_more(const ReceptionOptions& options, ReceptionJob& job) {
    if (!job.stream || gives_up(job)) return false;
    if (options.awaited) options.awaited();
    const std::size_t size = dsp::bytes_per_sample(job.recording.format);
    const std::size_t half = job.beginning.size() / 2 / size * size;
    const Watch watch([text = waiting_text(job)] { return text; }, options.stop);
    job.beginning.erase(job.beginning.begin(), job.beginning.begin() + static_cast<std::ptrdiff_t>(half));
    job.passed_s += seconds_of(job, half);
    const std::stop_callback end(watch.stop(), [&job] { job.stream->end(); });
    const auto more = io::read_beginning(*job.stream, half, true, [&](std::size_t) {
        if (options.came) options.came();
    });
    job.beginning.insert(job.beginning.end(), more.begin(), more.end());
    if (options.opened) options.opened();
    return !more.empty() && !watch.interrupted();
}

}  // namespace tidemill::cli
