#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/apps/reception/rx_fields.hpp"

namespace tidemill::cli {

/// A stretch of a reception on a time axis.
struct RxMoment {
    double time_s = 0;                   ///< of its end
    bool locked = false;                 ///< all the time
    std::optional<double> margin_db{};   ///< the least over the threshold
    std::optional<double> iterations{};  ///< of LDPC, a frame
    double mbps = 0;
    std::uint64_t frames = 0;
    std::uint64_t frames_bad = 0;
    std::uint64_t packets_lost = 0;
    std::uint64_t overflows = 0;
    std::string modcod{};  ///< of the last frame
};

/// A reception from its first moment on, in a bounded number of stretches: when there are too many, each two
/// become one, and later ones are as long.
class RxHistory {
  public:
    static constexpr std::size_t kMostMoments = 1200;

    /// The next stretch, which ends where the view was made and began at the one before.
    void add(const RxView& view);

    const std::vector<RxMoment>& moments() const { return moments_; }

    /// An object of each stretch, the oldest first.
    Json json() const;
    /// One of these.
    static Json json_of(const RxMoment& moment);

    /// Moment that the last view added.
    const RxMoment& newest() const { return newest_; }

  private:
    void halve();

    std::vector<RxMoment> moments_{};
    RxMoment newest_{};
    RxMoment growing_{};
    std::size_t grown_ = 0;  // views in it
    std::size_t views_each_ = 1;
    std::uint64_t packets_lost_ = 0;
    std::uint64_t overflows_ = 0;
};

}  // namespace tidemill::cli
