#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "tidemill/apps/outputs/byte_output.hpp"

namespace tidemill::cli {

/// A file of a reception that nobody can repeat: where it fails, as on a full disk, what comes is lost and
/// counted, and from time to time it is tried to go on behind what it holds. Both are reported.
class RetriedOutput final : public ByteOutput {
  public:
    using Open = std::function<std::unique_ptr<ByteOutput>()>;

    /// Throws what `open` throws. `pause`: between two tries.
    RetriedOutput(std::string name, Open open, std::chrono::milliseconds pause = std::chrono::seconds(5));

    void came_at(const SignalTime& time) override;
    void write(std::span<const std::uint8_t> piece) override;
    void flush() override;
    /// Throws IoError where it does not work in the end.
    void close() override;
    bool may_wait() const override { return may_wait_; }
    OutputAt at() const override { return to_ ? to_->at() : at_; }
    void go_on_at(const OutputAt& at) override;
    OutputLosses losses() const override;
    std::uint64_t bytes_kept_back() const override { return to_ ? to_->bytes_kept_back() : 0; }

  private:
    using Clock = std::chrono::steady_clock;

    template <class Act>
    void attempt(Act act);
    void fail(const ByteOutput& failed, const std::string& why);
    void try_again(std::span<const std::uint8_t> piece);

    const std::string name_;
    const Open open_;
    const std::chrono::milliseconds pause_;
    std::unique_ptr<ByteOutput> to_;  // null while it fails
    const bool may_wait_;
    OutputAt at_{};  // where it failed
    std::string failure_{};
    std::uint64_t bytes_lost_ = 0;
    std::uint64_t outages_ = 0;
    Clock::time_point tried_{};
};

}  // namespace tidemill::cli
