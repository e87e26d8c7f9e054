#include "tidemill/dvbs2/sync/frame_sync.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace tidemill::dvbs2 {

namespace {

// Noise passes 0.2 in a search with probability 2e-5 per candidate, and in one test with 3e-7; a header at
// -2.35 dB, where the mean is 0.37, misses it once in 300.
constexpr float kSearchQuality = 0.20F;
constexpr float kAloneQuality = 0.33F;   // the last frame of a stream, with no header behind it to confirm it
constexpr float kLockedQuality = 0.12F;  // place and frequency are known: a header misses it once in 10^4
constexpr double kLockedShare = 1.0 / 3;  // of the mean: what is worse among good ones is none
constexpr float kDoubtful = 0.7F;         // of the mean quality: is this header at another frequency?
constexpr float kFarBetter = 1.4F;
constexpr int kBadHeadersToLoss = 3;
constexpr std::array<int, 3> kSearchSlips{0, -1, 1};
constexpr std::array<int, 1> kNoSlip{0};
constexpr std::array<int, 4> kSlips{-1, 1, -2, 2};
constexpr std::size_t kScanSymbols = 8192;
constexpr std::uint64_t kKeptSymbols = 4ULL * kMaxFrameSymbols;

constexpr std::uint64_t kLearnSymbols = 5ULL * kMaxFrameSymbols;  // before the frequency is taken as it is

void copy_upright(std::span<const Iq> from, bool inverted, std::span<Iq> to) {
    if (inverted) {
        std::ranges::transform(from, to.begin(), [](Iq s) { return std::conj(s); });
    } else {
        dsp::copy_samples(from, to);
    }
}

std::vector<Pls> frame_kinds() {
    std::vector<Pls> kinds;
    for (int code = 0; code < 128; ++code) {
        const Pls pls = Pls::from_code(code);
        const auto same_length = [&](const Pls& k) { return layout_of(k).symbols == layout_of(pls).symbols; };
        if (pls.is_defined() && std::ranges::none_of(kinds, same_length)) {
            kinds.push_back(pls);
        }
    }
    return kinds;
}

}  // namespace

void FrameSync::push(std::span<const Iq> symbols) {
    forget_symbols();
    kept_.append(symbols);
    counts_.symbols += symbols.size();
}

void FrameSync::flush() {
    flushed_ = true;
}

std::optional<FrameInfo> FrameSync::pop(std::span<Iq> frame) {
    assert(frame.size() >= kFrameBufferSymbols);
    do {
        if (front_is_ready()) {
            return deliver(frame);
        }
    } while (advance());
    if (flushed_) {
        leave_outside(end());
    }
    return std::nullopt;
}

std::array<Iq, kHeaderSymbols> FrameSync::header_at(std::uint64_t place, bool inverted) const {
    std::array<Iq, kHeaderSymbols> header;
    copy_upright(kept_.at(place, kHeaderSymbols), inverted, header);
    return header;
}

std::optional<FrameSync::Found> FrameSync::header_near(std::uint64_t place, double frequency, bool inverted,
                                                       float quality, std::span<const int> slips) const {
    for (const int slip : slips) {
        const std::uint64_t start = place + static_cast<std::uint64_t>(static_cast<std::int64_t>(slip));
        if (start < kept_.begin() || start + kHeaderSymbols > end()) {
            continue;
        }
        const HeaderMatch match = match_header(header_at(start, inverted), static_cast<float>(frequency));
        const Pls pls = Pls::from_code(match.code);
        if (match.quality >= quality && pls.is_defined()) {
            return Found{start, layout_of(pls).symbols, pls, match.quality, true, inverted};
        }
    }
    return std::nullopt;
}

bool FrameSync::advance() {
    return locked_ ? follow() : search();
}

bool FrameSync::search() {
    if (candidates_.empty()) {
        const std::size_t count = std::min<std::uint64_t>(end() - scanned_, kScanSymbols);
        places_.clear();
        const std::size_t tried = header_search_.scan(kept_.at(scanned_, count), places_);
        for (const std::size_t place : places_) {
            candidates_.push_back(scanned_ + place);
        }
        scanned_ += tried;
        return tried > 0;
    }
    const Verdict verdict = judge(candidates_.front());
    if (verdict == Verdict::undecided) {
        return false;
    }
    if (verdict == Verdict::accepted) {
        lock_at(candidates_.front());
        candidates_.clear();
    } else {
        candidates_.pop_front();
    }
    hit_.reset();
    return true;
}

FrameSync::Verdict FrameSync::judge(std::uint64_t place) {
    if (!hit_) {
        hit_ = examine_header(kept_.at(place, kHeaderSymbols).first<kHeaderSymbols>());
    }
    const Pls pls = Pls::from_code(hit_->code);
    if (hit_->quality < kSearchQuality || !pls.is_defined()) {
        return Verdict::rejected;
    }
    const std::uint64_t next = place + static_cast<std::uint64_t>(layout_of(pls).symbols);
    if (next + kHeaderSymbols < end() || flushed_) {
        const bool confirmed =
            header_near(next, hit_->frequency, hit_->inverted, kSearchQuality, kSearchSlips).has_value();
        const bool last_of_stream = next <= end() && next + kHeaderSymbols > end();
        const bool alone = last_of_stream && hit_->quality >= kAloneQuality;
        return confirmed || alone ? Verdict::accepted : Verdict::rejected;
    }
    return Verdict::undecided;
}

void FrameSync::lock_at(std::uint64_t place) {
    const Pls pls = Pls::from_code(hit_->code);
    tracker_ = FrequencyTracker(hit_->frequency);
    quality_ = hit_->quality;
    inverted_ = hit_->inverted;
    locked_ = true;
    bad_in_a_row_ = 0;
    ++counts_.locks;
    std::vector<Found> frames{{place, layout_of(pls).symbols, pls, hit_->quality, true, inverted_}};
    while (const auto before = frame_before(frames.back())) {
        frames.push_back(*before);
    }
    for (std::size_t i = frames.size(); --i > 0;) {
        found_.push_back(frames[i]);
        learn(frames[i], frames[i - 1]);
    }
    last_ = last_good_ = frames.front();
    found_.push_back(last_);
}

std::optional<FrameSync::Found> FrameSync::frame_before(const Found& next) const {
    static const std::vector<Pls> kKinds = frame_kinds();
    for (const Pls& kind : kKinds) {
        const auto length = static_cast<std::uint64_t>(layout_of(kind).symbols);
        if (next.start < std::max(floor_, kept_.begin()) + length) {
            continue;
        }
        const auto found =
            header_near(next.start - length, tracker_.frequency(), next.inverted, kSearchQuality, kNoSlip);
        if (found && found->end() == next.start) {
            return found;
        }
    }
    return std::nullopt;
}

bool FrameSync::follow() {
    const std::uint64_t expected = last_.end();
    if (expected + kHeaderSymbols + 2 > end() && !flushed_) {
        return false;
    }
    if (expected + kHeaderSymbols > end()) {
        bad_in_a_row_ > 0 ? lose_lock() : finish();
        return true;
    }
    const float least = std::max(kLockedQuality, static_cast<float>(kLockedShare * quality_));
    auto next = header_near(expected, tracker_.frequency(), inverted_, least, kNoSlip);
    if (!next) {
        next = header_near(expected, tracker_.frequency(), inverted_, kSearchQuality, kSlips);
        counts_.slips += next ? 1 : 0;
    }
    const bool doubtful = !next || next->quality < kDoubtful * quality_;
    if (doubtful && has_jumped(next ? next->start : expected, next ? next->quality : 0)) {
        return true;
    }
    if (next && has_passed_over(*next)) {
        relock_at(next->start,
                  {next->pls.code(), next->quality, static_cast<float>(tracker_.frequency()), inverted_});
        return true;
    }
    next ? accept(*next) : coast();
    return true;
}

// Turned by a carrier that has jumped a header looks like noise or like another code's, but not as well as
// its own. Frames from before go out at the old frequency, then that header is the first one of a new lock.
bool FrameSync::has_jumped(std::uint64_t place, float quality) {
    const HeaderHit hit = examine_header(kept_.at(place, kHeaderSymbols).first<kHeaderSymbols>());
    if (hit.quality < std::max(kSearchQuality, kFarBetter * quality)) {
        return false;
    }
    relock_at(place, hit);
    return true;
}

// A header where one was expected, after some that were missed, may be another transmission's, by accident:
// then it has frames before it of which nothing was known.
bool FrameSync::has_passed_over(const Found& next) const {
    const auto before = last_.good ? std::nullopt : frame_before(next);
    return before && before->start != last_.start;
}

// Frames from before go out at the old frequency; this header is the first candidate of a new lock.
void FrameSync::relock_at(std::uint64_t place, const HeaderHit& hit) {
    lose_lock();
    candidates_.assign(1, place);
    hit_ = hit;
    scanned_ = place + 1;
}

void FrameSync::accept(const Found& next) {
    if (last_.good) {
        learn(last_, next);
    }
    bad_in_a_row_ = 0;
    last_ = last_good_ = next;
    found_.push_back(next);
}

void FrameSync::coast() {
    if (++bad_in_a_row_ == kBadHeadersToLoss) {
        lose_lock();
        return;
    }
    last_.start = last_.end();
    last_.good = false;
    last_.quality = 0;
    found_.push_back(last_);
}

void FrameSync::lose_lock() {
    while (!found_.empty() && !found_.back().good) {
        found_.pop_back();
    }
    // The last good frame may have been cut short, so the next header may lie within it.
    floor_ = last_good_.start + kHeaderSymbols;
    scanned_ = floor_;
    locked_ = false;
    bad_in_a_row_ = 0;
}

void FrameSync::finish() {
    if (!found_.empty() && found_.back().end() > end()) {
        found_.pop_back();
    }
    scanned_ = end();
    locked_ = false;
}

void FrameSync::learn(const Found& frame, const Found& next) {
    blocks_.assign(1, {0, header_references(frame.pls.code())});
    for (int block = 0; block < layout_of(frame.pls).pilot_blocks; ++block) {
        const int place = FrameLayout::pilot_start(block);
        blocks_.push_back({place, scrambler_->pilot_references().subspan(
                                      static_cast<std::size_t>(place - kHeaderSymbols), kPilotBlockSymbols)});
    }
    std::size_t count = static_cast<std::size_t>(frame.length);
    if (next.start == frame.end()) {
        blocks_.push_back({frame.length, header_references(next.pls.code())});
        count += kHeaderSymbols;
    }
    upright_.resize(count);
    for (const FrequencyTracker::Block& block : blocks_) {
        const auto place = static_cast<std::size_t>(block.place);
        const std::size_t symbols = block.references.size();
        copy_upright(kept_.at(frame.start + place, symbols), frame.inverted,
                     std::span(upright_).subspan(place, symbols));
    }
    quality_ += 0.1 * (frame.quality - quality_);
    tracker_.learn(upright_, blocks_, esn0());
}

double FrameSync::esn0() const {
    const double quality = std::clamp(quality_, 0.01, 0.99);
    return quality / (1 - quality);
}

bool FrameSync::front_is_ready() const {
    if (found_.empty()) {
        return false;
    }
    const Found& front = found_.front();
    const bool learned = tracker_.settled() || end() > front.start + kLearnSymbols;
    return !locked_ || (last_good_.start > front.start && learned);
}

FrameInfo FrameSync::deliver(std::span<Iq> frame) {
    const Found front = found_.front();
    found_.pop_front();
    const bool followed = !found_.empty() && found_.front().good && found_.front().start == front.end();
    const auto count = static_cast<std::size_t>(front.length) + (followed ? kHeaderSymbols : 0);
    copy_upright(kept_.at(front.start, count), front.inverted, frame);
    leave_outside(front.start);
    delivered_ = std::max(delivered_, front.end());
    ++counts_.frames;
    counts_.dummy_frames += front.pls.is_dummy() ? 1 : 0;
    counts_.bad_headers += front.good ? 0 : 1;
    return {.start = front.start,
            .symbols = front.length,
            .pls = front.pls,
            .next_code = followed ? found_.front().pls.code() : -1,
            .inverted = front.inverted,
            .header_quality = front.quality,
            .frequency = static_cast<float>(tracker_.frequency()),
            .frequency_sigma = static_cast<float>(tracker_.sigma())};
}

void FrameSync::leave_outside(std::uint64_t until) {
    if (until > delivered_) {
        counts_.symbols_outside += until - delivered_;
        delivered_ = until;
    }
}

void FrameSync::forget_symbols() {
    std::uint64_t needed = locked_ ? last_good_.start : candidates_.empty() ? scanned_ : candidates_.front();
    if (!locked_) {
        needed = std::max(floor_, needed - std::min(needed, kKeptSymbols));
    }
    if (!found_.empty()) {
        needed = std::min(needed, found_.front().start);
    }
    if (needed <= kept_.begin()) {
        return;
    }
    kept_.forget_before(needed);
    leave_outside(needed);
}

}  // namespace tidemill::dvbs2
