#include "tidemill/apps/outputs/retried_output.hpp"

#include <utility>

#include <fmt/format.h>

#include "tidemill/base/error.hpp"
#include "tidemill/io/io_error.hpp"
#include "tidemill/options/standard_streams.hpp"

namespace tidemill::cli {

RetriedOutput::RetriedOutput(std::string name, Open open, std::chrono::milliseconds pause)
    : name_(std::move(name)),
      open_(std::move(open)),
      pause_(pause),
      to_(open_()),
      may_wait_(to_->may_wait()) {}

template <class Act>
void RetriedOutput::attempt(Act act) {
    try {
        act(*to_);
    } catch (const Error& error) {
        at_ = to_->at();
        ++outages_;
        fail(*to_, error.what());
        to_.reset();
        warn(fmt::format("{}; what comes is lost until it works again", failure_));
    }
}

// Data that it had taken and not written are lost with it.
void RetriedOutput::fail(const ByteOutput& failed, const std::string& why) {
    bytes_lost_ += failed.bytes_kept_back();
    failure_ = why;
    tried_ = Clock::now();
}

void RetriedOutput::try_again(std::span<const std::uint8_t> piece) {
    std::unique_ptr<ByteOutput> opened;
    try {
        opened = open_();
        opened->go_on_at(at_);
        opened->write(piece);
        opened->flush();
    } catch (const Error& error) {
        if (!opened || opened->bytes_kept_back() == 0) bytes_lost_ += piece.size();
        if (opened) return fail(*opened, error.what());
        failure_ = error.what();
        tried_ = Clock::now();
        return;
    }
    to_ = std::move(opened);
    warn(fmt::format("{} works again: {} bytes were lost", name_, bytes_lost_));
}

void RetriedOutput::came_at(const SignalTime& time) {
    if (to_) to_->came_at(time);
}

void RetriedOutput::write(std::span<const std::uint8_t> piece) {
    if (to_) return attempt([&](ByteOutput& to) { to.write(piece); });
    if (Clock::now() - tried_ >= pause_) return try_again(piece);
    bytes_lost_ += piece.size();
}

void RetriedOutput::flush() {
    if (to_) attempt([](ByteOutput& to) { to.flush(); });
}

void RetriedOutput::close() {
    if (!to_) throw io::IoError(failure_);
    try {
        to_->close();
    } catch (const Error&) {
        ++outages_;
        throw;
    }
}

void RetriedOutput::go_on_at(const OutputAt& at) {
    at_ = at;
    if (to_) to_->go_on_at(at);
}

OutputLosses RetriedOutput::losses() const {
    OutputLosses losses = to_ ? to_->losses() : OutputLosses{};
    losses.bytes += bytes_lost_;
    losses.outages += outages_;
    return losses;
}

}  // namespace tidemill::cli
