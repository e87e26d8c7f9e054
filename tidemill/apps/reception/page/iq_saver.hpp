#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tidemill/apps/page/page_server.hpp"
#include "tidemill/io/recordings/sigmf.hpp"

namespace tidemill::cli {

/// Writes two seconds of a receiver's samples into a folder, each time that a viewer wants them, as SigMF.
/// Names are its own, there are never more than a few, and no disk holds up the receiver.
class IqSaver {
  public:
    static constexpr double kSeconds = 2;
    static constexpr std::size_t kMostRecordings = 20;
    static constexpr std::size_t kMostBytes = std::size_t{256} << 20;

    IqSaver(std::filesystem::path folder, const io::SigmfMetadata& samples);
    ~IqSaver();

    /// Begins to keep what comes; says under which name, or why not. From any thread.
    page::PageAnswer save();

    /// Takes samples that the receiver reads; by the one thread that does.
    void take(std::span<const std::byte> samples);

  private:
    enum State : int { idle, taking, writing, over };

    std::size_t recordings() const;
    std::filesystem::path next_name() const;
    void write_when_full();
    void write() const;

    std::filesystem::path folder_;
    io::SigmfMetadata samples_;
    std::size_t wanted_bytes_;
    std::filesystem::path name_{};
    std::vector<std::byte> kept_{};  // its owner is in the state
    std::mutex wishes_;              // of several viewers one at a time
    std::atomic<int> state_{idle};
    std::jthread thread_;
};

}  // namespace tidemill::cli
