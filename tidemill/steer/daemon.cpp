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
constexpr double kFades_s = 4;          // what was seen of a thread's work
constexpr double kForgotten_s = 60;     // of a program
constexpr double kSeenFor_s = 0.5;      // on a kind, before that counts
constexpr std::size_t kMostCounted = 100;  // threads that are learned of at a time
constexpr std::size_t kMostRecent = 20;

std::vector<CpuKind> checked(std::vector<CpuKind> kinds) {
    if (kinds.size() < 2)
        throw SteerError(
            "all cores are of one kind, so there is nothing to steer; say otherwise with --kinds "
            "big=0-3,little=4-7");
    return kinds;
}

// How many times longer it takes where it is.
double factor_of(const ThreadState& thread, const Snapshot& snapshot) {
    const bool is_known =
        thread.kind < thread.factors.size() && thread.factors[thread.kind].quality != bridge::Quality::absent;
    const double factor =
        is_known ? thread.factors[thread.kind].value : snapshot.kinds[thread.kind].usual_factor;
    return std::isfinite(factor) && factor > 0 ? factor : 1;
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
    const bool has_beginners = roster_.has_beginners();
    if (looks || has_beginners || now_s - decided_s_ >= options_.decide_every_s) decide(now_s);
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
    std::erase_if(seen_of_, [&](const auto& entry) { return now_s - entry.second.at_s > kForgotten_s; });
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
    for (std::size_t i = 0; i < active_.size(); ++i) {
        ThreadState& state = snapshot_.threads[i];
        state.work = work_of(*active_[i], factor_of(state, snapshot_), now_s);
    }
    even_out_work();
    add_small_threads();
}

// The demand that threads of one program show differs by where they are and by chance: unless it differs
// clearly, none of them wants more than another.
void Daemon::even_out_work() {
    constexpr double kClearly = 2;
    struct Works {
        double sum = 0, least = 1, most = 0;
        int threads = 0;
    };
    std::map<std::string_view, Works> of_programs;
    for (std::size_t i = 0; i < active_.size(); ++i) {
        const double work = snapshot_.threads[i].work.value_or(1);
        Works& works = of_programs[active_[i]->program];
        works = {works.sum + work, std::min(works.least, work), std::max(works.most, work),
                 works.threads + 1};
    }
    for (std::size_t i = 0; i < active_.size(); ++i) {
        const Works& works = of_programs.at(active_[i]->program);
        if (works.threads > 1 && works.least < 1 && works.most < kClearly * works.least)
            snapshot_.threads[i].work = works.sum / works.threads;
    }
}

void Daemon::note_state(RosterThread& thread, double now_s, ThreadState& state) {
    state.id = static_cast<std::uint64_t>(thread.number);
    state.weight = thread.facts.weight();
    state.demand = std::min(1.0, thread.demand);
    state.kind = thread.kind;
    state.rest_s = now_s - thread.moved_s;
    state.stays = !thread.is_ours() || now_s < thread.stays_until_s;
    state.received = thread.received;
    put_factors(thread, state.factors);
    if (thread.demand < kLimitedDemand && (thread.demand_over_s >= kSeenFor_s || !thread.seen))
        thread.seen = seen_of_[thread.program] =
            SeenWork{std::min(1.0, thread.ran / factor_of(state, snapshot_)), now_s};
}

// A thread that is limited does not show what it wants, but for what it gets. What was seen of it before, or
// of another thread of its program, fades: it may do something else by now.
std::optional<double> Daemon::work_of(const RosterThread& thread, double factor, double now_s) const {
    std::optional<SeenWork> seen = thread.seen;
    if (thread.demand < kLimitedDemand) return seen ? std::optional(seen->work) : std::nullopt;
    const auto of_program = seen_of_.find(thread.program);
    if (of_program != seen_of_.end() && (!seen || of_program->second.at_s > seen->at_s))
        seen = of_program->second;
    if (!seen) return std::nullopt;
    const double faded = 1 - std::exp((seen->at_s - now_s) / kFades_s);
    return std::max(seen->work + (1 - seen->work) * faded, std::min(1.0, thread.ran / factor));
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
