#include "tidemill/gpu/device/internal/stand_in_engine.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tidemill/gpu/device/device_error.hpp"

namespace tidemill {

StandInDevice::Engine::Engine(StandInOptions options)
    : options_(std::move(options)), random_(options_.seed), thread_([this] { work(); }) {}

StandInDevice::Engine::~Engine() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

bool StandInDevice::Engine::call(const char* what) {
    const std::lock_guard lock(mutex_);
    ++calls_;
    if (calls_ == options_.fails_at_call) {
        throw DeviceError(fmt::format("stand-in: call {} ({}) failed, as ordered", calls_, what));
    }
    return calls_ == options_.hangs_at_call;
}

std::uint64_t StandInDevice::Engine::calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
}

std::size_t StandInDevice::Engine::free_bytes() {
    const std::lock_guard lock(mutex_);
    return options_.memory_bytes - used_bytes_;
}

void StandInDevice::Engine::take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes > options_.memory_bytes - used_bytes_)
        throw DeviceMemoryError(fmt::format("stand-in: no {} bytes are free: use smaller batches", bytes));
    used_bytes_ += bytes;
}

void StandInDevice::Engine::give_back(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    used_bytes_ -= bytes;
}

std::shared_ptr<StandInDevice::Engine::Line> StandInDevice::Engine::add_line() {
    const std::lock_guard lock(mutex_);
    return lines_.emplace_back(std::make_shared<Line>());
}

// Work that was sent off is still done, unless something hangs: then a thread that waits behind it would wait
// for ever.
void StandInDevice::Engine::remove(const std::shared_ptr<Line>& line) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return line->jobs.empty() || (hangs() && !line->is_in_effect); });
    std::erase(lines_, line);
    changed_.notify_all();  // its unit is free
}

bool StandInDevice::Engine::hangs() const {
    return std::ranges::any_of(lines_, [](const auto& line) {
        return std::ranges::any_of(line->jobs, [](const Job& job) { return job.hangs; });
    });
}

std::uint64_t StandInDevice::Engine::send(Line& line, Job job) {
    const std::lock_guard lock(mutex_);
    job.sent = Clock::now();
    line.jobs.push_back(std::move(job));
    changed_.notify_all();
    return ++line.sent;
}

bool StandInDevice::Engine::is_done(const Line& line, std::uint64_t jobs) {
    const std::lock_guard lock(mutex_);
    return line.done >= jobs;
}

void StandInDevice::Engine::work() {
    std::unique_lock lock(mutex_);
    while (!ends_) {
        start_all();
        if (finish_one(lock)) continue;
        const Clock::time_point end = next_end();
        if (end == Clock::time_point::max()) {
            changed_.wait(lock);
        } else {
            changed_.wait_until(lock, end);
        }
    }
}

// The effect is the host's own code: it is called without the lock.
bool StandInDevice::Engine::finish_one(std::unique_lock<std::mutex>& lock) {
    for (const auto& each : lines_) {
        const std::shared_ptr<Line> line = each;
        if (!line->is_running || line->jobs.front().hangs || line->ends > Clock::now()) continue;
        const std::function<void()> effect = line->jobs.front().effect;
        line->is_in_effect = true;
        lock.unlock();
        effect();
        lock.lock();
        line->is_in_effect = false;
        const Job& done = line->jobs.front();
        if (done.unit != Unit::mark) free_[static_cast<std::size_t>(done.unit)] = line->ends;
        if (done.reached) *done.reached = line->ends;
        line->jobs.pop_front();
        line->is_running = false;
        ++line->done;
        changed_.notify_all();
        return true;
    }
    return false;
}

// Each unit has one job at a time; of the queues that wait for it the options choose one.
void StandInDevice::Engine::start_all() {
    std::vector<Line*> ready;
    for (const auto& line : lines_) {
        if (!line->is_running && !line->jobs.empty()) ready.push_back(line.get());
    }
    if (options_.first_sent_first) {
        std::ranges::stable_sort(ready, {}, [](const Line* line) { return line->jobs.front().sent; });
    } else {
        std::ranges::shuffle(ready, random_);
    }
    for (Line* line : ready) {
        const Job& job = line->jobs.front();
        if (is_busy(job.unit)) continue;
        line->is_running = true;
        const Clock::time_point begins =
            std::max({job.sent, line->ends, free_[static_cast<std::size_t>(job.unit)]});
        line->ends = begins + std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double, std::micro>(job.us));
    }
}

bool StandInDevice::Engine::is_busy(Unit unit) const {
    return std::ranges::any_of(
        lines_, [&](const auto& line) { return line->is_running && line->jobs.front().unit == unit; });
}

StandInDevice::Engine::Clock::time_point StandInDevice::Engine::next_end() const {
    Clock::time_point end = Clock::time_point::max();
    for (const auto& line : lines_) {
        if (line->is_running && !line->jobs.front().hangs) end = std::min(end, line->ends);
    }
    return end;
}

}  // namespace tidemill
