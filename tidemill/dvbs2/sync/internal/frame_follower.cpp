#include "tidemill/dvbs2/sync/internal/frame_follower.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <vector>

namespace tidemill::dvbs2::internal {

namespace {

constexpr float kLockedQuality = 0.12F;   // place and frequency are known: a header misses it once in 10^4
constexpr double kLockedShare = 1.0 / 3;  // of the mean: worse ones among good ones are not headers
constexpr float kDoubtful = 0.7F;         // of the mean quality: is this header at another frequency?
constexpr float kFarBetter = 1.4F;
constexpr float kDummyQuality = 0.1F;  // 50 sigmas above what other symbols have
constexpr int kBadHeadersToLoss = 3;
constexpr int kSlips[]{-1, 1, -2, 2};
constexpr int kWhole = kHeaderSymbols - 8;          // with so many symbols a header is read as any
constexpr int kLeastTeaching = kHeaderSymbols / 2;  // symbols of a header
constexpr std::uint64_t kLearnSymbols = 5ULL * kMaxFrameSymbols;  // before the frequency is taken as it is

// Where the clock leapt or slipped in a frame, its pilots are not where they should be: they would feign a
// drift. What a pulse has left of a header may carry less than headers usually do.
bool teaches(const HeardSymbols& heard, const FoundFrame& frame, const FoundFrame& next) {
    const auto tells = [&](const FoundFrame& of) {
        return header_symbols_left(heard.kept, of.start) >= kLeastTeaching;
    };
    return frame.good && next.start == frame.end() && !heard.places.leap(frame.start, next.start) &&
           tells(frame) && tells(next);
}

}  // namespace

void FrameFollower::begin(const HeardSymbols& heard, const FrameLead& lead, std::uint64_t floor) {
    const Pls pls = Pls::from_code(lead.hit.code);
    if (!may_be_known(heard, lead)) {
        grid_ = {};
        kinds_ = {};
    }
    learner_.begin(heard, lead);
    floor_ = floor;
    bad_in_a_row_ = 0;
    std::vector<FoundFrame> frames{
        {lead.place, layout_of(pls).symbols, pls, lead.hit.quality, true, lead.hit.inverted}};
    const auto before = [&] {
        const FoundFrame& behind = frames.back();
        return frame_before(heard.kept, floor_, behind, learner_.frequency_at(heard, behind.start));
    };
    // As the first one, none in which the clock leapt.
    for (auto frame = before(); frame && !heard.places.leap(frame->start, frames.back().start);
         frame = before())
        frames.push_back(*frame);
    for (FoundFrame& frame : frames | std::views::reverse) {
        frame.missing = grid_.step(heard, frame);
        kinds_.add(frame.pls.code());
    }
    for (std::size_t i = frames.size(); --i > 0;) {
        found_.push_back(frames[i]);
        learn(heard, frames[i - 1]);
    }
    last_ = last_good_ = frames.front();
    found_.push_back(last_);
}

// Whether a first header may belong to the signal from before: a header alone shows its frequency so well.
bool FrameFollower::may_be_known(const HeardSymbols& heard, const FrameLead& lead) const {
    constexpr double kHeaderSigmas = 4e-3;  // cycles per symbol, of the weakest
    return lead.hit.inverted == last_good_.inverted &&
           std::abs(static_cast<double>(lead.hit.frequency) - learner_.frequency_at(heard, lead.place)) <
               kHeaderSigmas;
}

FrameFollower::Step FrameFollower::step(const HeardSymbols& heard, FrameLedger& ledger) {
    const std::uint64_t behind_header = last_.end() + kHeaderSymbols;
    if (behind_header + 2 > heard.end() && !heard.ended) return {Progress::waiting};
    if (behind_header > heard.end()) return last_.good ? finish(heard.end()) : lose();
    const std::optional<FoundFrame> next = next_frame(heard, ledger);
    if (!next || next->quality < kDoubtful * learner_.quality()) {
        if (const auto lead = jumped(heard, next)) {
            const auto drifted = drifted_frame(heard, *lead);
            return drifted ? accept(heard, *drifted) : lose(lead);
        }
    }
    if (!next) return pass_over(heard);
    if (const auto lead = found_elsewhere(heard, *next)) return lose(lead);
    if (!has_passed_over(heard, *next)) return accept(heard, *next);
    const auto frequency = static_cast<float>(learner_.frequency_at(heard, next->start));
    return lose(FrameLead{next->start, {next->pls.code(), next->quality, frequency, last_.inverted}});
}

// At its place, or a little beside it.
std::optional<FoundFrame> FrameFollower::next_frame(const HeardSymbols& heard, FrameLedger& ledger) const {
    if (header_symbols_left(heard.kept, last_.end()) < kWhole) return hit_frame(heard);
    const float least = std::max(kLockedQuality, static_cast<float>(kLockedShare * learner_.quality()));
    HeaderQuery wanted{learner_.frequency_at(heard, last_.end()), last_.inverted, least, kNoSlip};
    if (const auto next = frame_near(heard.kept, last_.end(), wanted)) return next;
    wanted.quality = std::max(kSearchQuality, least);
    wanted.slips = kSlips;
    const auto next = frame_near(heard.kept, last_.end(), wanted);
    if (next) ledger.slip();
    return next;
}

// By what a pulse has left of its header, where that leaves no doubt.
std::optional<FoundFrame> FrameFollower::hit_frame(const HeardSymbols& heard) const {
    const std::uint64_t place = last_.end();
    const DamagedHeader remains =
        remains_at(heard.kept, place, last_.inverted, learner_.frequency_at(heard, place));
    if (!remains.is_clear()) return std::nullopt;
    const Pls pls = Pls::from_code(remains.best());
    return FoundFrame{place, layout_of(pls).symbols, pls, remains.quality(), true, last_.inverted};
}

// By its data.
std::optional<FoundFrame> FrameFollower::dummy_frame(const HeardSymbols& heard) const {
    const Pls dummy;
    FoundFrame frame{last_.end(), layout_of(dummy).symbols, dummy, 0, true, last_.inverted};
    if (frame.end() > heard.end()) return std::nullopt;
    frame.quality = learner_.dummy_quality(heard, frame.start);
    return frame.quality > kDummyQuality ? std::optional(frame) : std::nullopt;
}

// Turned by a carrier that has jumped a header looks like noise or like another code's, but not as well as
// its own; what a pulse has left of one does not show that. Frames from before go out at the old frequency,
// then that header is the first one of a new lock.
std::optional<FrameLead> FrameFollower::jumped(const HeardSymbols& heard,
                                               const std::optional<FoundFrame>& next) const {
    const std::uint64_t place = next ? next->start : last_.end();
    if (header_symbols_left(heard.kept, place) < kWhole) return std::nullopt;
    const HeaderHit hit = examine(heard.kept, place);
    if (hit.quality < std::max(kSearchQuality, kFarBetter * (next ? next->quality : 0))) return std::nullopt;
    if (hit.quality < kDoubtful * learner_.quality()) return std::nullopt;
    return FrameLead{place, hit};
}

// A front that has lost the carrier for a moment may have found it a little beside: no header shows that as
// clearly as to be jumped.
std::optional<FrameLead> FrameFollower::found_elsewhere(const HeardSymbols& heard,
                                                        const FoundFrame& next) const {
    constexpr double kBeside = 1e-3;  // cycles per symbol, which a header shows within 3e-4 at 3 dB
    if (heard.front.away(last_good_.start) == heard.front.away(next.start)) return std::nullopt;
    if (header_symbols_left(heard.kept, next.start) < kWhole) return std::nullopt;
    const HeaderHit hit = examine(heard.kept, next.start);
    const double away = hit.frequency - learner_.frequency_at(heard, next.start);
    if (hit.quality < kSearchQuality || std::abs(away) < kBeside) return std::nullopt;
    return FrameLead{next.start, hit};
}

// While nobody knows whether the carrier drifts, a header at its place whose frequency is ahead of what was
// learned may be the same signal's: what was learned lags behind a drift.
std::optional<FoundFrame> FrameFollower::drifted_frame(const HeardSymbols& heard,
                                                       const FrameLead& lead) const {
    const double lag = static_cast<double>(lead.hit.frequency) - learner_.frequency_at(heard, lead.place);
    if (learner_.settled() || lead.hit.inverted != last_.inverted) return std::nullopt;
    if (lead.place != last_.end() || std::abs(lag) > kLargestDriftLag) return std::nullopt;
    return frame_near(heard.kept, lead.place, {lead.hit.frequency, last_.inverted, kSearchQuality, kNoSlip});
}

// A header where one was expected, after some that were missed, may be another transmission's, by accident:
// then it has frames before it of which nothing was known.
bool FrameFollower::has_passed_over(const HeardSymbols& heard, const FoundFrame& next) const {
    if (last_.good) return false;
    const auto before = frame_before(heard.kept, floor_, next, learner_.frequency_at(heard, next.start));
    return before && before->start != last_.start;
}

// Learns from the last frame. Where it shows a drift, what was learned before was learned at the wrong
// places.
void FrameFollower::learn(const HeardSymbols& heard, const FoundFrame& next) {
    if (!teaches(heard, found_.back(), next)) return;
    learner_.learn(heard, found_.back(), next);
    if (!learner_.has_found_drift()) return;
    learner_.begin_again(heard, found_.front());
    for (std::size_t i = 0; i < found_.size(); ++i) {
        const FoundFrame& behind = i + 1 < found_.size() ? found_[i + 1] : next;
        if (teaches(heard, found_[i], behind)) learner_.learn(heard, found_[i], behind);
    }
}

FrameFollower::Step FrameFollower::accept(const HeardSymbols& heard, const FoundFrame& next) {
    if (last_.good) learn(heard, next);
    bad_in_a_row_ = 0;
    last_ = last_good_ = next;
    found_.push_back(next);
    found_.back().missing = grid_.step(heard, next);
    kinds_.add(next.pls.code());
    return {Progress::moved};
}

// A frame whose header is not recognised: of a dummy frame all else is known, too; of the other kinds that
// there were lately it is the one that ends where a header follows.
FrameFollower::Step FrameFollower::pass_over(const HeardSymbols& heard) {
    if (bad_in_a_row_ + 1 == kBadHeadersToLoss) return lose();
    const auto dummy_symbols = static_cast<std::uint64_t>(layout_of(Pls{}).symbols);
    if (last_.end() + dummy_symbols > heard.end() && !heard.ended) return {Progress::waiting};
    if (const auto dummy = dummy_frame(heard)) return accept(heard, *dummy);
    const std::optional<std::vector<int>> kinds = fitting_kinds(heard);
    if (!kinds) return {Progress::waiting};
    ++bad_in_a_row_;
    const Pls pls = Pls::from_code(kinds_.predict(*kinds));
    last_ = {last_.end(), layout_of(pls).symbols, pls, 0, false, last_.inverted};
    found_.push_back(last_);
    kinds_.add(pls.code());
    return {Progress::moved};
}

// Those that what is left of the header allows, and of these the shortest that a header follows, if there is
// any; nothing while symbols are awaited that may decide.
std::optional<std::vector<int>> FrameFollower::fitting_kinds(const HeardSymbols& heard) const {
    const auto length_of = [](int code) { return layout_of(Pls::from_code(code)).symbols; };
    const std::uint64_t place = last_.end();
    const DamagedHeader remains =
        remains_at(heard.kept, place, last_.inverted, learner_.frequency_at(heard, place));
    std::vector<int> kinds = kinds_.kinds();
    const auto is_excluded = [&](int code) { return !remains.may_be(code); };
    if (!std::ranges::all_of(kinds, is_excluded)) std::erase_if(kinds, is_excluded);
    std::ranges::sort(kinds, {}, length_of);
    if (length_of(kinds.front()) == length_of(kinds.back())) return kinds;
    for (const int code : kinds) {
        const std::uint64_t end = place + static_cast<std::uint64_t>(length_of(code));
        if (end + kHeaderSymbols > heard.end() && !heard.ended) return std::nullopt;
        const double frequency = learner_.frequency_at(heard, end);
        if (!frame_near(heard.kept, end, {frequency, last_.inverted, kSearchQuality, kNoSlip})) continue;
        std::erase_if(kinds, [&](int other) { return length_of(other) != length_of(code); });
        break;
    }
    return kinds;
}

FrameFollower::Step FrameFollower::lose(const std::optional<FrameLead>& lead) {
    while (!found_.empty() && !found_.back().good) found_.pop_back();
    tell_missing();
    return {Progress::lost, lead};
}

FrameFollower::Step FrameFollower::finish(std::uint64_t end) {
    if (!found_.empty() && found_.back().end() > end) found_.pop_back();
    tell_missing();
    return {Progress::ended};
}

// With the last frame, since none may follow that could decide.
void FrameFollower::tell_missing() {
    const MissingSymbols missing = grid_.settle();
    if (missing.count > 0 && !found_.empty()) found_.back().missing = missing;
}

bool FrameFollower::front_is_settled(std::uint64_t end) const {
    const FoundFrame& front = found_.front();
    return last_good_.start > front.start && (learner_.settled() || end > front.start + kLearnSymbols);
}

FrameInfo FrameFollower::deliver(const HeardSymbols& heard, std::span<Iq> frame) {
    const FoundFrame front = found_.front();
    found_.pop_front();
    const bool followed = !found_.empty() && found_.front().good && found_.front().start == front.end();
    const auto count = static_cast<std::size_t>(front.length) + (followed ? kHeaderSymbols : 0);
    copy_upright(heard.kept.at(front.start, count), front.inverted, frame);
    const std::uint64_t middle = front.start + static_cast<std::uint64_t>(front.length / 2);
    learner_.derotate(heard, front.start, middle, frame.first(count));
    return {.start = front.start,
            .symbols = front.length,
            .pls = front.pls,
            .next_code = followed ? found_.front().pls.code() : -1,
            .inverted = front.inverted,
            .alone = !learner_.has_learned(),
            .header_quality = front.quality,
            .frequency = static_cast<float>(learner_.frequency_at(heard, middle)),
            .frequency_sigma = static_cast<float>(learner_.sigma()),
            .drift = static_cast<float>(learner_.drift()),
            .front_frequency = heard.front.taken_out(middle),
            .place = heard.places.at(front.start),
            .missing = front.missing};
}

}  // namespace tidemill::dvbs2::internal
