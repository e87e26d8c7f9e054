#include "tidemill/steer/daemon.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "tidemill/steer/steer_error.hpp"

namespace tidemill::steer {

namespace {

constexpr double kActive = 0.05;        // part of the time from which on a thread takes part in decisions
constexpr double kReleasedAfter_s = 2;  // at the end of a phase nobody is released and confined again
constexpr double kNotAgainFor_s = 5;    // after a change that the system did not allow
constexpr double kTidiedEvery_s = 10;   // the journal
constexpr double kPromiseWindow_s = 4;  // over which a thread's speed is compared with what it was promised
constexpr std::size_t kMostCounted = 100;  // threads that are learned of at a time
constexpr std::size_t kMostRecent = 20;

std::vector<CpuKind> checked(std::vector<CpuKind> kinds) {
    if (kinds.size() < 2)
        throw SteerError(
            "all cores are of one kind, so there is nothing to steer; say otherwise with --kinds "
            "big=0-3,little=4-7");
    return kinds;
}

Restored restore_after_crash(const DaemonOptions& options, System& system) {
    if (options.dry_run) return {};
    const Restored restored = restore(read_journal(options.journal), system);
    write_journal({.boot_id = system.boot_id(), .threads = {}}, options.journal);
    return restored;
}

}  // namespace

Daemon::Daemon(System& system, std::vector<CpuKind> kinds, Target target, DaemonOptions options)
    : system_(system),
      kinds_(checked(std::move(kinds))),
      options_(std::move(options)),
      restored_at_start_(restore_after_crash(options_, system_)),
      journal_{.boot_id = system_.boot_id(), .threads = {}},
      roster_(system_, kinds_, std::move(target)),
      started_s_(system_.now_s()),
      started_processor_s_(system_.processor_s()),
      looked_s_(started_s_),
      decided_s_(started_s_),
      written_s_(started_s_) {
    kinds_.set_online(system_.online());
    if (options_.counters == nullptr || options_.dry_run) return;  // where nobody is moved nothing is learned
    options_.decision.learns = true;
    learning_.emplace(*options_.counters, kinds_.count());
}

Daemon::~Daemon() {
    try {
        end();
    } catch (const Error&) {
        // The journal stays for the next daemon.
    }
}

void Daemon::tick() {
    const double now_s = system_.now_s();
    const bool looks = now_s - looked_s_ >= options_.look_every_s;
    if (looks) look(now_s);
    roster_.sample();
    if (looks || now_s - decided_s_ >= options_.decide_every_s) decide(now_s);
}

void Daemon::decide(double now_s) {
    active_.clear();
    std::ranges::copy_if(roster_.threads(), std::back_inserter(active_), [](const RosterThread* thread) {
        return thread->demand >= kActive && !thread->is_gone;
    });
    learn();
    take_snapshot(now_s);
    if (options_.decision.fair) note_received(now_s);
    decided_s_ = now_s;
    carry_out(steer(snapshot_, options_.decision));
    release_idle();
}

void Daemon::look(double now_s) {
    looked_s_ = now_s;
    kinds_.set_online(system_.online());
    active_.clear();
    roster_.look();
    // A thread that it names in vain is not harmed, and writing takes longer than all the rest.
    if (roster_.has_news() || now_s - written_s_ >= kTidiedEvery_s) write_journal_if_changed();
}

void Daemon::take_snapshot(double now_s) {
    snapshot_.kinds = kinds_.cores();
    snapshot_.threads.resize(active_.size());
    for (std::size_t i = 0; i < active_.size(); ++i) note_state(*active_[i], now_s, snapshot_.threads[i]);
    add_small_threads();
}

void Daemon::note_state(RosterThread& thread, double now_s, ThreadState& state) const {
    state.id = static_cast<std::uint64_t>(thread.number);
    state.weight = thread.facts.weight();
    state.demand = std::min(1.0, thread.demand);
    state.kind = thread.kind;
    state.rest_s = now_s - thread.moved_s;
    state.stays = !thread.is_ours() || now_s < thread.stays_until_s;
    state.received = thread.received;
    put_factors(thread, state.factors);
}

// Many that want little are a load together, of threads that stay.
void Daemon::add_small_threads() {
    std::vector<double> small(kinds_.count());
    for (const RosterThread* const thread : roster_.threads())
        if (thread->demand < kActive && !thread->is_gone) small[thread->kind] += thread->demand;
    for (std::size_t kind = 0; kind < small.size(); ++kind)
        for (; small[kind] >= kActive; small[kind] -= 1)
            snapshot_.threads.push_back({.demand = std::min(1.0, small[kind]), .kind = kind, .stays = true});
}

// The counters' numbers are of this very thread, and of now.
void Daemon::put_factors(RosterThread& thread, std::vector<bridge::Factor>& factors) const {
    if (thread.known.empty() && options_.known) thread.known = options_.known(thread.program);
    factors = thread.known;
    if (!learning_) return;
    factors.resize(kinds_.count());
    for (std::size_t kind = 0; kind < factors.size(); ++kind)
        if (const bridge::Factor learned = learning_->factor(thread, kind);
            learned.quality != bridge::Quality::absent)
            factors[kind] = learned;
}

void Daemon::learn() {
    if (!learning_) return;
    const std::size_t looks = std::min(active_.size(), kMostCounted);
    for (std::size_t i = 0; i < looks; ++i) {
        RosterThread& thread = *active_[learn_at_++ % active_.size()];
        if (thread.is_ours()) learning_->look(thread);
    }
    learning_->generate();
}

void Daemon::note_received(double now_s) {
    const double part = std::min(1.0, (now_s - decided_s_) / kPromiseWindow_s);
    const std::vector<Speed> now = speeds(snapshot_);
    for (std::size_t i = 0; i < active_.size(); ++i)
        if (now[i].alone > 0)
            active_[i]->received += part * (now[i].now / now[i].alone - active_[i]->received);
}

// A decision is one on the whole assignment: a free thread would be moved out of it by the system.
void Daemon::carry_out(const std::vector<Change>& changes) {
    if (changes.empty()) return;
    announce(changes);
    for (const Change& change : changes) {
        if (!carry_out(change)) continue;
        ++(change.moves.size() == 1 ? counts_.moves : counts_.exchanges);
        tell(change);
    }
    for (RosterThread* const thread : active_)
        if (is_to_be_held(*thread)) confine(*thread, thread->kind);
}

bool Daemon::is_to_be_held(const RosterThread& thread) const {
    return thread.standing == Standing::free && thread.demand >= options_.decision.least_demand &&
           decided_s_ >= thread.stays_until_s;
}

// If we are killed from now on, the next daemon knows whom to look for.
void Daemon::announce(const std::vector<Change>& changes) {
    bool has_news = false;
    for (const Change& change : changes)
        for (const Move& move : change.moves)
            has_news = roster_.note_intended(*active_[move.thread], move.to) || has_news;
    for (RosterThread* const thread : active_)
        if (is_to_be_held(*thread)) has_news = roster_.note_intended(*thread, thread->kind) || has_news;
    if (has_news) write_journal_if_changed();
}

void Daemon::tell(const Change& change) {
    const auto name_of = [&](std::size_t thread) {
        return fmt::format("{} {}", active_[thread]->number, active_[thread]->program);
    };
    recent_.push_back(fmt::format("{:.1f} s: {}", decided_s_ - started_s_,
                                  describe(change, snapshot_, kinds_.names(), name_of)));
    options_.told(recent_.back());
    if (recent_.size() > kMostRecent) recent_.pop_front();
}

// Where one thread of an exchange may not go the others go back: without it the change is another one.
bool Daemon::carry_out(const Change& change) {
    struct Done {
        RosterThread* thread;
        std::size_t from;
        bool was_confined;
    };
    std::vector<Done> done;
    for (const Move& move : change.moves) {
        RosterThread& thread = *active_[move.thread];
        const bool was_confined = thread.standing == Standing::confined;
        const Outcome outcome = confine(thread, move.to);
        if (outcome == Outcome::done) done.push_back({&thread, move.from, was_confined});
        if (outcome == Outcome::done || outcome == Outcome::gone) continue;
        thread.stays_until_s = decided_s_ + kNotAgainFor_s;
        for (const Done& each : done) {
            if (each.was_confined) {
                confine(*each.thread, each.from);
            } else {
                release(*each.thread);
            }
        }
        ++counts_.undone;
        return false;
    }
    return !done.empty();
}

Outcome Daemon::confine(RosterThread& thread, std::size_t kind) {
    if (options_.dry_run) {
        roster_.note_confined(thread, kind);
        return Outcome::done;
    }
    roster_.examine(thread);
    if (thread.is_gone) return Outcome::gone;
    if (!thread.is_ours()) return Outcome::refused;
    const Outcome outcome = thread.held->set_affinity(kinds_.cpus(kind));
    if (outcome == Outcome::done) roster_.note_confined(thread, kind);
    if (outcome == Outcome::gone) thread.is_gone = true;
    if (outcome == Outcome::refused) {
        thread.standing = Standing::refused;
        ++counts_.refused;
    }
    return outcome;
}

bool Daemon::release(RosterThread& thread) {
    if (!options_.dry_run) {
        roster_.examine(thread);
        if (thread.is_gone || thread.standing != Standing::confined) return false;
        if (thread.held->set_affinity(system_.possible()) != Outcome::done) return false;
    }
    roster_.note_free(thread);
    return true;
}

void Daemon::release_idle() {
    for (RosterThread* const thread : roster_.threads()) {
        if (thread->standing != Standing::confined || thread->is_gone) continue;
        if (thread->demand > options_.decision.least_demand / 2) continue;
        if (decided_s_ - thread->moved_s >= kReleasedAfter_s && release(*thread)) ++counts_.released;
    }
}

std::vector<SteeredThread> Daemon::steered() const {
    std::vector<SteeredThread> threads;
    for (const RosterThread* const thread : roster_.threads()) {
        if (thread->sets.empty() || !thread->is_ours()) continue;
        threads.push_back({thread->process, thread->number, thread->facts.start_ticks, thread->facts.session,
                           thread->program, thread->before, thread->sets, thread->since_ticks});
    }
    return threads;
}

void Daemon::write_journal_if_changed() {
    if (options_.dry_run || ended_) return;
    written_s_ = decided_s_;
    std::vector<SteeredThread> threads = steered();
    if (threads == journal_.threads) return;
    journal_.threads = std::move(threads);
    write_journal(journal_, options_.journal);
}

Restored Daemon::end() {
    if (std::exchange(ended_, true)) return {};
    if (options_.dry_run) return {};
    roster_.look();
    const Restored restored = restore({journal_.boot_id, steered()}, system_);
    write_journal({.boot_id = journal_.boot_id, .threads = {}}, options_.journal);
    return restored;
}

}  // namespace tidemill::steer
