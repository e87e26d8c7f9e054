#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tidemill/io/files/sha512.hpp"
#include "tidemill/machine/start_thread.hpp"

namespace tidemill::io::internal {

/// How the thread of a digest is started: as below, unless a test refuses it one.
using StartThread = std::function<std::jthread(std::function<void(const std::stop_token&)>)>;

inline std::jthread start_digest_thread(std::function<void(const std::stop_token&)> work) {
    return start_thread(std::move(work));
}

/// SHA-512 of bytes that are written, made by a thread of its own beside the writing; where the system has
/// none left, by the writer.
class BackgroundDigest {
  public:
    explicit BackgroundDigest(StartThread start = start_digest_thread) : start_(std::move(start)) {}

    /// Takes a copy; waits while some MiB are not digested yet.
    void update(std::span<const std::byte> bytes);

    /// Digest of all that was taken, as Sha512::finish().
    std::string finish();

  private:
    bool has_thread();
    void take(std::span<const std::byte> piece);
    void digest_what_comes(const std::stop_token& stop);
    void digest(std::span<const std::byte> piece) noexcept;

    StartThread start_;  // empty: it was refused
    Sha512 sha_{};
    std::exception_ptr failure_{};  // of the thread
    std::mutex mutex_{};
    std::condition_variable_any changed_{};
    std::vector<std::byte> waiting_{};
    std::jthread thread_{};  // ends before what it works on
};

}  // namespace tidemill::io::internal
