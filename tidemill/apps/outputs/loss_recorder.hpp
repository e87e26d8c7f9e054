#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tidemill/apps/outputs/byte_output.hpp"
#include "tidemill/io/recordings/sigmf.hpp"

namespace tidemill::cli {

/// Samples to keep around losses of lock, and their limits.
struct LossOptions {
    double seconds = 0;                        ///< before and after each; 0: nothing
    std::uint64_t most_bytes = 2'000'000'000;  ///< of all that is kept
    std::string folder = ".";
};

/// Reads what --keep-limit says: a size like 2GB. Throws WrongUsage.
std::uint64_t parse_keep_limit(const std::string& text);

/// Writes a SigMF recording of samples around each loss of lock. The oldest go where there would be more
/// bytes than may be. Never waits for the disk where the input is live.
class LossRecorder {
  public:
    /// `samples` describes them. Throws WrongUsage for a size beyond memory or the limit, and JobFailed where
    /// the folder does not exist.
    LossRecorder(const LossOptions& options, const io::SigmfMetadata& samples, bool live);
    LossRecorder(const LossRecorder&) = delete;
    LossRecorder& operator=(const LossRecorder&) = delete;
    ~LossRecorder();

    /// A lock was lost, before the next samples.
    void lost();

    /// Whole samples.
    void take(std::span<const std::byte> samples);

    /// No more come; what is begun is closed.
    void close();

    std::uint64_t losses() const { return losses_; }
    std::uint64_t files() const { return files_; }
    std::uint64_t files_removed() const { return files_removed_; }
    /// Why something was not kept; empty: all was.
    const std::string& failure() const { return failure_; }

  private:
    class Kept;

    void remember(std::span<const std::byte> samples);
    void begin_file();
    void write(std::span<const std::byte> samples);
    void end_file();
    void close_those_done();
    void make_room(std::uint64_t wanted);
    bool is_being_written(const std::string& name) const;
    template <class Act>
    void attempt(Act act);

    LossOptions options_;
    io::SigmfMetadata samples_;
    bool live_;
    std::vector<std::byte> ring_;
    std::size_t next_ = 0;    // where the next byte goes
    std::size_t filled_ = 0;  // of the ring
    std::unique_ptr<Kept> file_{};
    std::uint64_t left_ = 0;  // bytes that still go into it
    std::deque<std::unique_ptr<Kept>> done_{};
    std::uint64_t losses_ = 0;
    std::uint64_t files_ = 0;
    std::uint64_t files_removed_ = 0;
    std::string failure_{};
};

}  // namespace tidemill::cli
