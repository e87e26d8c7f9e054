#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tidemill/io/recordings/sigmf.hpp"

namespace tidemill::cli {

/// Where in a recording frames followed one another, and with which MODCODs, as annotations. Bounded, however
/// long it lasts and however often MODCODs change.
class CarrierAnnotations {
  public:
    static constexpr std::size_t kMost = 20000;

    /// MODCODs that take turns within `turn` samples are reported together; without frames for as long, the
    /// lock is taken for lost.
    explicit CarrierAnnotations(std::uint64_t turn) : turn_(turn) {}

    /// A frame lay there. `gap`: it does not follow the one before.
    void frame(std::uint64_t begin, std::uint64_t end, const std::string& modcod, bool gap);

    /// Samples are missing at a place of the recording.
    void missing(std::uint64_t at, std::uint64_t samples);

    std::vector<io::SigmfAnnotation> all() const;

  private:
    struct Span {
        std::uint64_t begin;
        std::uint64_t end;
        std::set<std::string> modcods;  // none: a lock
    };

    bool has_room() const { return locks_.size() + runs_.size() + missing_.size() < kMost; }

    std::uint64_t turn_;
    std::uint64_t frames_ = 0;  // since the last gap: of too few, another gap belongs to the same loss
    std::vector<Span> locks_{};
    std::vector<Span> runs_{};
    std::vector<io::SigmfAnnotation> missing_{};
};

}  // namespace tidemill::cli
