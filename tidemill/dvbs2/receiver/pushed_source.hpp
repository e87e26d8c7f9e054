#pragma once

#include <cstddef>
#include <span>

#include "tidemill/io/live/sample_source.hpp"

namespace tidemill::dvbs2 {

inline constexpr const char* kBehindTheEnd =
    "samples behind the end: it was said that no more come; make another receiver";
inline constexpr const char* kReceptionIsOver =
    "the reception has ended, so it takes no samples; finish() says why";

/// Samples that one thread of the program around a receiver gives at a time, and another one receives.
class PushedSource : public io::SampleSource {
  public:
    /// Takes whole samples: all, or as many as there is room for; says how many bytes. Throws Dvbs2Error for
    /// parts of samples, after finish(), and when the run is over.
    virtual std::size_t push(std::span<const std::byte> samples, bool waits) = 0;
    /// No more will come.
    virtual void finish() = 0;
    /// Cancels the samples that wait; by any thread.
    virtual void cancel() = 0;
    /// Nobody reads any more.
    virtual void mark_finished() = 0;
};

}  // namespace tidemill::dvbs2
