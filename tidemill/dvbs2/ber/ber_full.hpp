#pragma once

#include <cstdint>

#include "tidemill/dvbs2/ber/ber_counts.hpp"
#include "tidemill/dvbs2/ber/ber_point.hpp"
#include "tidemill/runtime/graph/module.hpp"

namespace tidemill::dvbs2 {

/// Result of one burst.
struct BurstResult {
    BerCounts counts;
    std::uint64_t samples_to_lock = 0;  ///< read when the first good frame came out; 0 when none did
};

/// Sends burst number `burst` of known frames through pulse shaper and channel, at two samples per symbol,
/// into the whole receiver, and compares what comes out. Depends on its arguments alone. `skipped_symbols`
/// are cut off the beginning, as if the receiver had been switched on late. Throws Dvbs2Error when
/// the settings cannot be sent, and asserts that point.full_sync is there.
BurstResult receive_burst(const BerPoint& point, std::uint64_t burst, std::uint64_t skipped_symbols = 0);

/// receive_burst() as a task: frame n of the graph is burst n.
class BerFullLink final : public Module {
  public:
    explicit BerFullLink(const BerPoint& point) : Module("link"), point_(point) {}

    Out<BerCounts> counts = out<BerCounts>("counts");
    Task receive = task("receive", &BerFullLink::receive_frames, pure);

  private:
    void receive_frames(Frame f) const { f[counts][0] = receive_burst(point_, f.number()).counts; }

    BerPoint point_;
};

}  // namespace tidemill::dvbs2
