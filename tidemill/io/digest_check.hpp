#pragma once

#include <memory>
#include <string>

#include "tidemill/io/internal/digest_thread.hpp"
#include "tidemill/io/recording.hpp"

namespace tidemill::io {

/// Compares the data of a recording with the SHA-512 that its metadata claim, which reads all of it: beside
/// other work, by a thread that gives way to all others, or when the result is asked for. Reads nothing where
/// no digest is claimed.
class DigestCheck {
  public:
    explicit DigestCheck(const Recording& recording);
    DigestCheck(DigestCheck&&) noexcept;
    /// What has begun is given up.
    ~DigestCheck();

    /// Goes on beside the caller, once; where the system has no thread left, when the result is asked for.
    void begin(const internal::StartThread& start = internal::start_digest_thread);

    /// Says what disagrees, empty when nothing does. Who asks does what is left; throws IoError where the
    /// data cannot be read.
    std::string disagreement();

  private:
    struct Reading;

    std::unique_ptr<Reading> reading_;  // null: no digest is claimed
};

/// The same, all of it now.
std::string check_digest(const Recording& recording);

}  // namespace tidemill::io
