#include "tidemill/io/live/gap_log.hpp"

namespace tidemill::io {

void GapLog::add(const SampleGap& gap) {
    gaps_.push_back(gap);
    if (gaps_.size() > kMost) gaps_.pop_front();
}

void GapLog::grow(const SampleGap& more) {
    if (gaps_.empty()) return add(more);
    gaps_.back().samples += more.samples;
    gaps_.back().estimated += more.estimated;
}

void GapLog::look(std::uint64_t at, const SampleLosses& lost) {
    const SampleGap more{at, lost.samples - seen_.samples, lost.estimated - seen_.estimated};
    if (lost.gaps != seen_.gaps) {
        add(more);
    } else if (more.samples > 0) {
        grow(more);
    }
    seen_ = lost;
}

}  // namespace tidemill::io
