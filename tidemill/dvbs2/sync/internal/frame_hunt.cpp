#include "tidemill/dvbs2/sync/internal/frame_hunt.hpp"

#include <algorithm>
#include <cmath>

#include "tidemill/dvbs2/sync/extension_header.hpp"

namespace tidemill::dvbs2::internal {

namespace {

constexpr float kAloneQuality = 0.33F;  // of noise one header in 10^12: no other need confirm it
constexpr int kTriedSlips[]{0, -1, 1};
constexpr std::size_t kScanSymbols = 8192;
constexpr std::uint64_t kKeptSymbols = 4ULL * kMaxFrameSymbols;

}  // namespace

FrameHunt::Progress FrameHunt::step(const HeardSymbols& heard) {
    if (candidates_.empty()) return scan(heard) ? Progress::moved : Progress::waiting;
    const Verdict verdict = judge(heard);
    if (verdict == Verdict::undecided) return Progress::waiting;
    if (verdict == Verdict::accepted) return Progress::found;
    candidates_.pop_front();
    hit_.reset();
    return Progress::moved;
}

bool FrameHunt::scan(const HeardSymbols& heard) {
    const std::size_t count = std::min<std::uint64_t>(heard.end() - scanned_, kScanSymbols);
    places_.clear();
    const std::size_t tried = header_search_.scan(heard.kept.at(scanned_, count), places_);
    for (const std::size_t place : places_) candidates_.push_back(scanned_ + place);
    scanned_ += tried;
    return tried > 0;
}

FrameHunt::Verdict FrameHunt::judge(const HeardSymbols& heard) {
    const std::uint64_t place = candidates_.front();
    if (!hit_) hit_ = examine(heard.kept, place);
    const Pls pls = Pls::from_code(hit_->code);
    if (hit_->quality < kSearchQuality || !pls.is_defined()) return Verdict::rejected;
    const std::uint64_t next = place + static_cast<std::uint64_t>(layout_of(pls).symbols);
    if (next + kHeaderSymbols >= heard.end() && !heard.ended) return Verdict::undecided;
    // Where samples are missing in a frame it is a wreck, from which nothing should be learned: its pilots
    // feign a drift, and what is half a symbol off looks like an echo.
    if (heard.places.leap(place, next)) return Verdict::rejected;
    if (is_confirmed(heard, next)) return Verdict::accepted;
    const bool alone = next <= heard.end() && hit_->quality >= kAloneQuality;
    return alone && !is_extension(heard) ? Verdict::accepted : Verdict::rejected;
}

// By a header at the same frequency or, exactly at its place, at one to which a carrier may have drifted.
bool FrameHunt::is_confirmed(const HeardSymbols& heard, std::uint64_t next) const {
    const HeaderQuery wanted{hit_->frequency, hit_->inverted, kSearchQuality, kTriedSlips};
    if (frame_near(heard.kept, next, wanted)) return true;
    if (next + kHeaderSymbols > heard.end()) return false;
    const HeaderHit drifted = examine(heard.kept, next);
    return drifted.quality >= kSearchQuality && drifted.inverted == hit_->inverted &&
           Pls::from_code(drifted.code).is_defined() &&
           std::abs(drifted.frequency - hit_->frequency) < kLargestDriftLag;
}

// Headers of DVB-S2X are partly like others.
bool FrameHunt::is_extension(const HeardSymbols& heard) const {
    const auto header = heard.kept.at(candidates_.front(), kHeaderSymbols).first<kHeaderSymbols>();
    return examine_extension_header(header).quality > hit_->quality;
}

FrameLead FrameHunt::take() {
    const FrameLead lead{candidates_.front(), *hit_};
    candidates_.clear();
    hit_.reset();
    return lead;
}

void FrameHunt::begin_at(std::uint64_t floor) {
    floor_ = floor;
    scanned_ = floor;
}

void FrameHunt::begin_with(std::uint64_t floor, const FrameLead& lead) {
    begin_at(floor);
    candidates_.assign(1, lead.place);
    hit_ = lead.hit;
    scanned_ = lead.place + 1;
}

std::uint64_t FrameHunt::needed() const {
    const std::uint64_t next = candidates_.empty() ? scanned_ : candidates_.front();
    return std::max(floor_, next - std::min(next, kKeptSymbols));
}

}  // namespace tidemill::dvbs2::internal
