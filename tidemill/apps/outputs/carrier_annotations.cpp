#include "tidemill/apps/outputs/carrier_annotations.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tidemill/apps/outputs/loss_watch.hpp"

namespace tidemill::cli {

void CarrierAnnotations::frame(std::uint64_t begin, std::uint64_t end, const std::string& modcod, bool gap) {
    const bool is_near = !locks_.empty() && begin <= locks_.back().end + turn_;
    const bool goes_on = is_near && !(gap && frames_ >= LossWatch::kSolidFrames);
    frames_ = gap || !is_near ? 1 : frames_ + 1;
    if (!goes_on && has_room()) {
        if (!locks_.empty()) begin = std::max(begin, locks_.back().end);
        locks_.push_back({begin, begin, {}});
        runs_.push_back({begin, begin, {modcod}});
    }
    if (locks_.empty()) return;
    Span& run = runs_.back();
    if (!run.modcods.contains(modcod)) {
        if (run.end - run.begin < turn_ || !has_room()) {
            run.modcods.insert(modcod);
        } else {
            runs_.push_back({run.end, run.end, {modcod}});
        }
    }
    locks_.back().end = std::max(locks_.back().end, end);
    runs_.back().end = locks_.back().end;
}

void CarrierAnnotations::missing(std::uint64_t at, std::uint64_t samples) {
    if (!has_room()) return;
    missing_.push_back({at, 0, "gap", fmt::format("{} samples are missing here", samples)});
}

std::vector<io::SigmfAnnotation> CarrierAnnotations::all() const {
    std::vector<io::SigmfAnnotation> all;
    for (const Span& lock : locks_) all.push_back({lock.begin, lock.end - lock.begin, "lock", ""});
    for (const Span& run : runs_)
        all.push_back({run.begin, run.end - run.begin, fmt::to_string(fmt::join(run.modcods, ", ")), ""});
    all.insert(all.end(), missing_.begin(), missing_.end());
    std::ranges::stable_sort(all, {}, &io::SigmfAnnotation::start);  // as SigMF wants them
    return all;
}

}  // namespace tidemill::cli
