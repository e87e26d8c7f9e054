#include "tidemill/io/live/reopened_source.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tidemill/io/io_error.hpp"

namespace tidemill::io {

ReopenedSource::ReopenedSource(std::string place, Open open, std::unique_ptr<LiveClock> clock)
    : place_(std::move(place)),
      open_(std::move(open)),
      clock_(std::move(clock)),
      source_(open_()),
      format_(source_->format()),
      sample_rate_hz_(source_->sample_rate_hz().value()),
      controls_(source_->controls()) {}

void ReopenedSource::end() noexcept {
    clock_->end();
    const std::lock_guard lock(mutex_);
    if (source_) source_->end();
}

void ReopenedSource::control(std::size_t index, double value) {
    const std::lock_guard lock(mutex_);
    changed_[index] = value;
    if (source_) source_->control(index, value);
}

// An end between two sources ends the next one, too.
void ReopenedSource::replace(std::unique_ptr<LiveSource> source) {
    const std::lock_guard lock(mutex_);
    source_ = std::move(source);
    if (!source_) return;
    for (const auto& [index, value] : changed_) source_->control(index, value);
    if (clock_->ended()) source_->end();
}

std::size_t ReopenedSource::read(std::span<std::byte> to) {
    to = to.first(to.size() - to.size() % dsp::bytes_per_sample(format_));
    while (!clock_->ended()) {
        if (silence_ > 0) return give_silence(to);
        if (!kept_.empty()) return give_kept(to);
        if (!source_) {
            look_for_it();
        } else if (const std::size_t got = read_source(to); got > 0 || !any_came_) {
            return got;
        }
    }
    return 0;
}

// Returns 0 where it has ended, or silence has to be given out first.
std::size_t ReopenedSource::read_source(std::span<std::byte> to) {
    std::size_t got = 0;
    try {
        got = source_->read(to);
    } catch (const IoError&) {
        if (!any_came_) throw;
    }
    if (got > 0) return take(to.first(got));
    if (any_came_ && !clock_->ended()) vanish();
    return 0;
}

std::size_t ReopenedSource::take(std::span<const std::byte> samples) {
    last_came_ns_ = clock_->now_ns();
    any_came_ = true;
    if (!outage_) return samples.size();
    count_outage();
    outage_.reset();
    is_gone_ = false;
    if (silence_ == 0) return samples.size();
    kept_.assign(samples.begin(), samples.end());
    return 0;
}

std::size_t ReopenedSource::give_silence(std::span<std::byte> to) {
    const std::size_t size = dsp::bytes_per_sample(format_);
    const auto samples = std::min<std::uint64_t>(silence_, to.size() / size);
    silence_ -= samples;
    std::ranges::fill(to.first(samples * size), silent_byte(format_));
    return samples * size;
}

std::size_t ReopenedSource::give_kept(std::span<std::byte> to) {
    const std::size_t bytes = std::min(to.size(), kept_.size());
    std::ranges::copy(std::span(kept_).first(bytes), to.begin());
    kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(bytes));
    return bytes;
}

void ReopenedSource::vanish() {
    replace(nullptr);
    const std::int64_t now_ns = clock_->now_ns();
    if (outage_) return outage_->tried_in_vain(now_ns);
    ++gaps_;
    is_gone_ = true;
    outage_.emplace(sample_rate_hz_, last_came_ns_, now_ns);
}

// Waits a little, or opens it again when it is time for that; silence goes out meanwhile.
void ReopenedSource::look_for_it() {
    constexpr std::int64_t kWaitNs = 100'000'000;
    count_outage();
    if (silence_ > 0) return;
    const std::int64_t left_ns = outage_->until_try_ns(clock_->now_ns());
    if (left_ns > 0) return clock_->wait_ns(std::min(left_ns, kWaitNs));
    if (!open_again()) vanish();
}

bool ReopenedSource::open_again() {
    try {
        replace(open_());
        return source_->begin();
    } catch (const IoError&) {
        return false;
    }
}

void ReopenedSource::count_outage() {
    const Outage::Missing more = outage_->count(clock_->now_ns());
    missing_ += more.samples;
    silence_ += more.silence;
}

SampleLosses ReopenedSource::losses() const {
    const std::uint64_t missing = missing_;
    return {gaps_, missing, missing};
}

std::string ReopenedSource::trouble() const {
    return is_gone_ ? fmt::format("'{}' has vanished, and is looked for", place_) : "";
}

}  // namespace tidemill::io
