#include "tidemill/dvbs2/sync/frame_sync.hpp"

#include <algorithm>
#include <cassert>

namespace tidemill::dvbs2 {

void FrameSync::push(std::span<const Iq> symbols, const FrontTurn& turn) {
    forget_symbols();
    heard_.front.turn(heard_.end() + turn.from, turn.frequency, turn.found);
    for (const StrobeMark& mark : turn.marks) heard_.places.mark(heard_.end() + mark.symbol, mark);
    heard_.kept.append(symbols);
    ledger_.take_in(symbols.size());
}

std::optional<FrameInfo> FrameSync::pop(std::span<Iq> frame) {
    assert(frame.size() >= kFrameBufferSymbols);
    do {
        if (front_is_ready()) return deliver(frame);
    } while (advance());
    if (heard_.ended) ledger_.leave_outside(heard_.end());
    return std::nullopt;
}

bool FrameSync::front_is_ready() const {
    return follower_.front() != nullptr && (!locked_ || follower_.front_is_settled(heard_.end()));
}

FrameInfo FrameSync::deliver(std::span<Iq> frame) {
    ledger_.deliver(*follower_.front());
    return follower_.deliver(heard_, frame);
}

bool FrameSync::hunt() {
    const auto progress = hunt_.step(heard_);
    if (progress == internal::FrameHunt::Progress::found) {
        follower_.begin(heard_, hunt_.take(), hunt_.floor());
        ledger_.lock();
        locked_ = true;
    }
    return progress != internal::FrameHunt::Progress::waiting;
}

bool FrameSync::follow() {
    using Progress = internal::FrameFollower::Progress;
    const auto [progress, lead] = follower_.step(heard_, ledger_);
    locked_ = progress != Progress::ended && progress != Progress::lost;
    if (progress == Progress::ended) hunt_.skip_to(heard_.end());
    if (progress == Progress::lost) begin_hunt(lead);
    return progress != Progress::waiting;
}

void FrameSync::begin_hunt(const std::optional<internal::FrameLead>& lead) {
    const std::uint64_t floor = follower_.last_good_start() + kHeaderSymbols;
    lead ? hunt_.begin_with(floor, *lead) : hunt_.begin_at(floor);
}

void FrameSync::forget_symbols() {
    std::uint64_t needed = locked_ ? follower_.last_good_start() : hunt_.needed();
    if (follower_.front() != nullptr) needed = std::min(needed, follower_.front()->start);
    if (needed <= heard_.kept.begin()) return;
    heard_.kept.forget_before(needed);
    heard_.front.forget_before(needed);
    heard_.places.forget_before(needed);
    ledger_.leave_outside(needed);
}

}  // namespace tidemill::dvbs2
