#include "tidemill/steer/roster.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "tidemill/steer/journal.hpp"
#include "tidemill/steer/steer_error.hpp"

namespace tidemill::steer {

namespace {

// Cost of reading is bounded, however many threads there are: one of those that run is read later then.
constexpr double kReadsPerSecond = 2000;
constexpr double kExaminedPerSecond = 100;
constexpr double kLongest_s = 0.25;       // for which is read at once
constexpr std::size_t kReadsOfFacts = 4;  // as long as so many of times
constexpr double kIdleEvery_s = 1;
constexpr double kRuns = 0.01;  // part of the time from which on a thread is no idle one
constexpr double kMemory_s = 1;
constexpr double kAlmostNothing_s = 1e-3;
constexpr int kInit =
    1;  // has the children of processes that have ended, and is not whom they have theirs from

double seconds_between(std::uint64_t before_ns, std::uint64_t after_ns) {
    return after_ns > before_ns ? 1e-9 * static_cast<double>(after_ns - before_ns) : 0;
}

}  // namespace

const char* to_string(Standing standing) {
    constexpr const char* kWords[] = {"free", "confined", "foreign", "one kind", "real-time", "refused"};
    return kWords[static_cast<std::size_t>(standing)];
}

Roster::Roster(System& system, const Kinds& kinds, Target target)
    : system_(system),
      kinds_(kinds),
      target_(std::move(target)),
      self_(getpid()),
      sampled_s_(system.now_s()) {
    for (const int process : target_.processes)
        if (process != self_ && !system_.hold(process))
            throw SteerError(fmt::format("there is no process {}, or it cannot be held", process));
    static_cast<void>(system_.has_new_processes());
    for (const int number : candidates()) look_at_process(number);
    has_begun_ = true;
    look();
}

std::vector<int> Roster::candidates() {
    if (target_.group.empty()) return system_.processes();
    try {
        return system_.group(target_.group);
    } catch (const SteerError&) {
        if (!has_begun_) throw;
        return {};  // removed, so nobody is in it
    }
}

void Roster::look() {
    const bool has_new = system_.has_new_processes() || std::exchange(has_lost_, false);
    if (!target_.group.empty() || has_new) look_for_processes();
    for (const RosterThread* thread : flat_)
        if (thread->is_gone) processes_.at(thread->process).has_gone_threads = true;
    for (auto& [number, process] : processes_) look_for_threads(number, process);
    // Their numbers may be others' already.
    has_lost_ =
        std::erase_if(processes_, [](const auto& entry) { return entry.second.held->has_ended(); }) > 0;
    flat_.clear();
    for (auto& [number, process] : processes_)
        for (auto& [thread, watched] : process.threads) flat_.push_back(watched.get());
}

void Roster::look_for_processes() {
    const std::vector<int> all = candidates();
    const std::set<int> there(all.begin(), all.end());
    std::erase_if(ignored_, [&](int number) { return !there.contains(number); });
    for (const int number : all)
        if (!processes_.contains(number) && !ignored_.contains(number)) look_at_process(number);
}

bool Roster::belongs(int number, const ThreadFacts& facts) const {
    if (facts.is_kernel_thread || number == self_) return false;
    if (target_.processes.empty()) return true;
    if (processes_.contains(facts.parent)) return true;
    if (facts.parent == kInit && sessions_.contains(facts.session)) return is_heir(facts);
    // Later on, these numbers may be others'; but we ourselves are still there.
    const auto is_meant = [&](int process) { return std::ranges::count(target_.processes, process) != 0; };
    return (!has_begun_ && is_meant(number)) || (facts.parent == self_ && is_meant(self_));
}

// Heir of a process that has ended, and with it what says so.
bool Roster::is_heir(const ThreadFacts& orphan) const {
    return std::ranges::any_of(sessions_.at(orphan.session),
                               [&](const auto& given) { return orphan.start_ticks >= given.second; });
}

void Roster::look_at_process(int number) {
    Process process{.held = system_.hold(number)};
    const auto main = process.held ? process.held->hold(number) : nullptr;
    const auto facts = main ? main->facts() : std::nullopt;
    if (!facts) return;
    if (!belongs(number, *facts)) {
        ignored_.insert(number);
        return;
    }
    process.name = facts->name;
    const auto parent = processes_.find(facts->parent);
    if (parent != processes_.end() && facts->parent != kInit) {
        process.given = parent->second.given;
    } else if (const auto session = sessions_.find(facts->session); session != sessions_.end()) {
        process.given = session->second;
    }
    processes_.emplace(number, std::move(process));
}

void Roster::look_for_threads(int number, Process& process) {
    const bool has_ended = process.held->has_ended();
    if (!has_ended && !std::exchange(process.has_gone_threads, false) && !process.held->has_other_threads())
        return;
    const std::vector<int> numbers = has_ended ? std::vector<int>() : process.held->threads();
    const std::set<int> there(numbers.begin(), numbers.end());
    std::erase_if(process.threads,
                  [&](const auto& entry) { return entry.second->is_gone || !there.contains(entry.first); });
    for (const int thread : numbers)
        if (!process.threads.contains(thread)) take_up(number, process, thread);
}

void Roster::take_up(int number, Process& process, int thread) {
    auto watched = std::make_unique<RosterThread>();
    watched->process = number;
    watched->number = thread;
    watched->held = process.held->hold(thread);
    const auto times = watched->held ? watched->held->times() : std::nullopt;
    if (!times) return;
    watched->times = *times;
    watched->sampled_s = system_.now_s();
    examine(*watched, process);
    if (watched->is_gone) return;
    process.threads.emplace(thread, std::move(watched));
}

void Roster::examine(RosterThread& thread) {
    examine(thread, processes_.at(thread.process));
}

void Roster::examine(RosterThread& thread, Process& process) {
    const auto facts = thread.held->facts();
    const auto affinity = facts ? thread.held->affinity() : std::nullopt;
    if (!affinity) {
        thread.is_gone = true;
        return;
    }
    const bool is_as_before = *affinity == thread.affinity && facts->policy == thread.facts.policy;
    if (facts->name != thread.facts.name) rename(thread, process, facts->name);
    thread.facts = *facts;
    if (!is_as_before) classify(thread, process, *affinity);
    if (thread.standing == Standing::confined) return;
    thread.kind = kinds_.kind_of(thread.facts.processor).value_or(0);
}

// By itself, or because it has become another program.
void Roster::rename(RosterThread& thread, Process& process, const std::string& name) {
    if (thread.number == thread.process) process.name = name;
    thread.program = fmt::format("{}.{}", process.name, name);
    thread.known.clear();
}

void Roster::classify(RosterThread& thread, Process& process, const CpuSet& affinity) {
    const CpuSet allowed = process.held->allowed().value_or(system_.online());
    const auto is_in = [&](std::size_t kind) { return is_result_of(kinds_.cpus(kind), affinity, allowed); };
    const auto has_from_us = [&](const auto& given) {
        return thread.facts.start_ticks >= given.second && is_in(given.first);
    };
    const bool was_confined = thread.standing == Standing::confined;
    thread.affinity = affinity;
    if (!thread.facts.is_ordinary()) {
        thread.standing = Standing::real_time;
    } else if (was_confined && is_in(thread.kind)) {
        return;  // its control group has other processors now
    } else if (is_within(allowed, affinity)) {
        thread.standing = kinds_.kinds_in(allowed) < 2 ? Standing::one_kind : Standing::free;
        thread.before = affinity;
    } else if (const auto given = std::ranges::find_if(process.given, has_from_us);
               !was_confined && given != process.given.end()) {
        thread.standing = Standing::confined;  // from its parent
        thread.before = allowed;
        thread.kind = given->first;
        thread.sets = {kinds_.cpus(thread.kind)};
        thread.since_ticks = given->second;
        has_news_ = true;
    } else {
        thread.standing = Standing::foreign;
        has_news_ = has_news_ || was_confined;
    }
}

void Roster::examine_some(double most) {
    for (std::size_t i = 0; i < flat_.size() && most > 0; ++i) {
        RosterThread& thread = *flat_[examine_at_++ % flat_.size()];
        if (thread.demand < kRuns || thread.is_gone) continue;
        examine(thread);
        most -= 1;
    }
}

bool Roster::note_intended(RosterThread& thread, std::size_t kind) {
    const CpuSet& set = kinds_.cpus(kind);
    if (thread.sets.empty()) thread.since_ticks = system_.now_ticks();
    if (std::ranges::count(thread.sets, set) != 0) return false;
    thread.sets.push_back(set);
    processes_.at(thread.process).given.try_emplace(kind, thread.since_ticks);
    sessions_[thread.facts.session].try_emplace(kind, thread.since_ticks);
    return true;
}

void Roster::note_confined(RosterThread& thread, std::size_t kind) {
    thread.standing = Standing::confined;
    // Its demand elsewhere is not its demand of this kind.
    if (thread.kind != kind) thread.demand_over_s = std::min(thread.demand_over_s, kAlmostNothing_s);
    thread.kind = kind;
    thread.moved_s = system_.now_s();
    thread.affinity = thread.held->affinity().value_or(thread.before);
}

void Roster::note_free(RosterThread& thread) {
    thread.standing = Standing::free;
    thread.sets.clear();
    thread.affinity = thread.held->affinity().value_or(thread.before);
}

void Roster::sample() {
    const double now_s = system_.now_s();
    const double since_last_s = std::min(now_s - std::exchange(sampled_s_, now_s), kLongest_s);
    examine_some(since_last_s * kExaminedPerSecond);
    double left = since_last_s * kReadsPerSecond;
    for (std::size_t i = 0; i < flat_.size() && left > 0; ++i) {
        RosterThread& thread = *flat_[sample_at_++ % flat_.size()];
        const double since_s = now_s - thread.sampled_s;
        const bool is_idle = thread.demand < kRuns && thread.idle_s >= kIdleEvery_s;
        if (thread.is_gone || since_s <= 0 || (is_idle && since_s < kIdleEvery_s)) continue;
        left -= static_cast<double>(sample(thread, now_s));
    }
}

std::size_t Roster::sample(RosterThread& thread, double now_s) {
    const auto times = thread.held->times();
    thread.is_gone = !times;
    if (thread.is_gone) return 1;
    const double since_s = now_s - thread.sampled_s;
    const double ran_s = seconds_between(thread.times.ran_ns, times->ran_ns);
    const double waited_s = seconds_between(thread.times.waited_ns, times->waited_ns);
    thread.times = *times;
    thread.sampled_s = now_s;
    const bool may_wait = ran_s + waited_s == 0 && thread.demand >= kRuns;
    if (may_wait && is_waiting(thread)) {
        thread.waits_s += since_s;
        note_demand(thread, 0, since_s, since_s);
    } else {
        const double already_s = std::min(std::exchange(thread.waits_s, 0), waited_s);
        note_demand(thread, ran_s, ran_s + waited_s - already_s, since_s);
    }
    return may_wait ? 1 + kReadsOfFacts : 1;
}

bool Roster::is_waiting(RosterThread& thread) {
    const auto facts = thread.held->facts();
    return facts && facts->is_running;
}

void Roster::note_demand(RosterThread& thread, double ran_s, double wanted_s, double since_s) {
    thread.idle_s = wanted_s > 0 ? 0 : thread.idle_s + since_s;
    has_beginners_ = has_beginners_ || (thread.demand_over_s == 0 && wanted_s > 0);
    if (thread.demand_over_s == 0 && wanted_s == 0) return;  // nothing yet, and that tells nothing of later
    const double before_s = std::min(thread.demand_over_s, kMemory_s);
    const double part = since_s / (since_s + before_s);
    thread.demand += (wanted_s / since_s - thread.demand) * part;
    thread.ran += (ran_s / since_s - thread.ran) * part;
    thread.demand_over_s += since_s;
}

}  // namespace tidemill::steer
