#include "tidemill/scheduling/unequal/placement.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tidemill/scheduling/static/work_split.hpp"

namespace tidemill::bridge {

using policy::KindId;
using policy::TaskTypeId;
using policy::WorkerId;

namespace {

constexpr double kFirstIntervalUs = 100;  // between two looks at all tasks
constexpr double kLongestIntervalUs = 10'000;
constexpr double kAsCheap = 1.03;     // what costs so little more is at home, too
constexpr double kPays = 1.02;        // by which the period must be better for tasks to be placed
constexpr double kHopeless = 8;       // so many times slower, only late ones are helped
constexpr double kWaitUs = 5;         // that a wait costs: for less nobody waits
constexpr double kDear = 1.15;        // what costs so much more is not worth learning well
constexpr double kChanged = 1.5;      // how far from before a time is that counts as a strike
constexpr std::uint8_t kStrikes = 4;  // in a row, for a change
constexpr std::uint64_t kDeaf = 4;    // frames without notice after a first change
constexpr double kExplored = 0.01;    // of all work, once all is learned
constexpr double kRemembered = 4096;  // calls by which demand is counted

// Time that a call counts for where much is known: one that is far from that has mostly lost its core to
// others.
std::uint64_t near(const MeanTicks& mean, std::uint64_t ticks) {
    const auto usual = static_cast<double>(mean.value());
    return static_cast<std::uint64_t>(
        std::clamp(static_cast<double>(ticks), usual / kChanged, usual * kChanged));
}

// Where little is known, the short calls are nearer to the truth: nothing makes a call shorter than it is.
void learn(MeanTicks& mean, std::uint64_t ticks) {
    if (mean.known() && kChanged * static_cast<double>(ticks) < static_cast<double>(mean.value())) mean = {};
    mean.note(mean.known() ? near(mean, ticks) : ticks);
}

// Where each core takes its share of everything. Infinite where some cannot: a task does not run there, or
// one at a time takes longer than that.
double period_anyhow(const SplitWork& work) {
    double frames = 0;
    for (std::size_t way = 0; way < work.ways.size(); ++way) {
        double core_ticks = 0;
        for (std::size_t task = 0; task < work.sequential.size(); ++task)
            core_ticks += work.weight(task, way);
        frames += work.pool_units[way] / core_ticks;
    }
    for (std::size_t task = 0; task < work.sequential.size(); ++task)
        for (std::size_t way = 0; way < work.ways.size(); ++way)
            if (work.sequential[task] && work.weight(task, way) * frames > 1)
                return std::numeric_limits<double>::infinity();
    return 1 / frames;
}

std::vector<int> cores_of(const std::vector<KindId>& kinds) {
    std::vector<int> cores(1 + std::ranges::max(kinds), 0);
    for (const KindId kind : kinds) ++cores[kind];
    return cores;
}

}  // namespace

Placement::Placement(Settings settings)
    : settings_(std::move(settings)),
      kinds_(1 + std::ranges::max(settings_.kinds)),
      cores_(cores_of(settings_.kinds)),
      times_(kinds_),
      factors_(settings_.most_types, kinds_),
      prices_(kinds_, 1),
      ratios_(kinds_ * kinds_, 1),
      interval_(static_cast<std::uint64_t>(kFirstIntervalUs * settings_.ticks_per_us)) {
    for (const KindId kind : settings_.kinds) workers_.push_back({kind});
}

void Placement::add_type(policy::KindSet kinds, bool sequential, const KnownTicks& known) {
    const auto type = static_cast<TaskTypeId>(types_.size());
    types_.push_back({sequential});
    may_have_.push_back(0);
    all_types_.push_back(1);
    indifferent_ = false;
    times_.resize(types_.size());
    for (KindId kind = 0; kind < kinds_; ++kind) {
        Entry fresh;
        if (kind < known.size() && known[kind] > 0) {
            times_.on(kind, type).note(known[kind]);
            fresh.trust = kLearned;
        }
        entries_.push_back(fresh);
    }
    confine(type, kinds);
}

void Placement::confine(TaskTypeId type, policy::KindSet kinds) {
    for (KindId kind = 0; kind < kinds_; ++kind)
        entry(type, kind).may_run = (kinds >> kind & 1) != 0 && cores_[kind] > 0;
    indifferent_ = false;
    next_generation_ = 0;
}

void Placement::ready(TaskTypeId type) {
    ++ready_;
    ++types_[type].ready;
}

void Placement::issued(WorkerId worker, TaskTypeId type, std::uint64_t expected_ticks) {
    --ready_;
    --types_[type].ready;
    Worker& busy = workers_[worker];
    if (busy.busy_until == 0) busy.busy_until = settings_.now();
    busy.busy_until += expected_ticks;
    Entry& entry = this->entry(type, busy.kind);
    if (entry.wanted()) entry.trying = true;
}

void Placement::completed(WorkerId worker, TaskTypeId type, std::uint64_t tasks, std::uint64_t ticks) {
    const KindId kind = workers_[worker].kind;
    const std::uint64_t now = settings_.now();
    workers_[worker].busy_until = 0;
    workers_[worker].idle_since = now;
    calls_ += tasks;
    types_[type].demand += static_cast<double>(tasks);
    work_ += static_cast<double>(tasks * ticks);
    Entry& entry = this->entry(type, kind);
    entry.trying = false;
    entry.asked = false;
    entry.last_call = calls_;
    if (!entry.at_home) explored_ += static_cast<double>(tasks * ticks);
    note(type, kind, tasks, ticks);
    if (now >= next_generation_) generate(now);
}

void Placement::note(TaskTypeId type, KindId kind, std::uint64_t tasks, std::uint64_t ticks) {
    Entry& entry = this->entry(type, kind);
    MeanTicks& mean = times_.on(kind, type);
    if (!mean.known() || entry.trust < kDoubted) {
        learn(mean, ticks);
    } else if (!has_changed(type, kind, ticks)) {
        mean.note_slowly(near(mean, ticks));
    }
    if (entry.trust == kLearned) return;
    const std::uint8_t before = entry.trust;
    entry.trust = static_cast<std::uint8_t>(std::min<std::uint64_t>(kLearned, before + tasks));
    const auto reaches = [&](std::uint8_t calls) { return before < calls && entry.trust >= calls; };
    if (!reaches(1) && !reaches(kFew) && !reaches(kLearned)) return;
    entry.doubt = Doubt::none;
    next_generation_ = 0;
}

// Whether it was one call too many that is far from what was usual.
bool Placement::has_changed(TaskTypeId type, KindId kind, std::uint64_t ticks) {
    Entry& entry = this->entry(type, kind);
    if (calls_ < entry.deaf_until) return false;
    if (entry.strikes == 0) {
        entry.steady = times_.on(kind, type).value();
        entry.strike_ticks = 0;
    }
    const double ratio = static_cast<double>(ticks) / static_cast<double>(entry.steady);
    const bool far = ratio > kChanged || ratio < 1 / kChanged;
    entry.strikes = far ? static_cast<std::uint8_t>(entry.strikes + 1) : 0;
    entry.strike_ticks += ticks;
    if (entry.strikes < kStrikes) return false;
    note_change(type, kind);
    return true;
}

// First, the task type is thought to have changed alike everywhere. Where that proves wrong it is another
// kind of core that has changed, and all else that is believed of it is doubted.
void Placement::note_change(TaskTypeId type, KindId kind) {
    Entry& changed = entry(type, kind);
    changed.strikes = 0;
    // A task type that changes again and again is not worth finding out each time.
    changed.deaf_until = calls_ + ((types_.size() * kDeaf) << changed.changes);
    changed.changes = static_cast<std::uint8_t>(std::min(changed.changes + 1, 10));
    const double factor =
        static_cast<double>(changed.strike_ticks) / kStrikes / static_cast<double>(changed.steady);
    times_.on(kind, type) = {};
    times_.on(kind, type).note(changed.strike_ticks / kStrikes);
    next_generation_ = 0;
    indifferent_ = false;
    interval_ = static_cast<std::uint64_t>(kFirstIntervalUs * settings_.ticks_per_us);
    const Doubt doubted = std::exchange(changed.doubt, Doubt::none);
    if (doubted == Doubt::other_kinds) doubt_kinds_but(kind, type);
    if (doubted != Doubt::none) return;
    for (KindId other = 0; other < kinds_; ++other) {
        if (other == kind || !times_.on(other, type).known()) continue;
        times_.on(other, type).scale(factor);
        doubt(type, other, Doubt::other_kinds);
    }
}

void Placement::doubt_kinds_but(KindId kind, TaskTypeId type) {
    for (TaskTypeId other = 0; other < types_.size(); ++other) {
        for (KindId each = 0; each < kinds_; ++each)
            if (other != type && each != kind) doubt(other, each, Doubt::other_types);
    }
}

void Placement::doubt(TaskTypeId type, KindId kind, Doubt why) {
    Entry& entry = this->entry(type, kind);
    entry.trust = std::min(entry.trust, kDoubted);
    entry.dismissed = false;
    entry.doubt = why;
}

// A time that is not known is that of other kinds, by what is usual between them.
double Placement::ticks_of(TaskTypeId type, KindId kind) const {
    if (times_.on(kind, type).known()) return static_cast<double>(times_.on(kind, type).value());
    for (KindId other = 0; other < kinds_; ++other) {
        if (times_.on(other, type).known())
            return static_cast<double>(times_.on(other, type).value()) * ratios_[other * kinds_ + kind];
    }
    return 0;
}

bool Placement::is_for(TaskTypeId type, KindId kind) const {
    const Entry& entry = this->entry(type, kind);
    return entry.may_run && (entry.at_home || (entry.wanted() && !entry.trying));
}

Placement::Found Placement::find(WorkerId worker) {
    if (indifferent_) return {ready_ > 0, all_types_};
    const KindId kind = workers_[worker].kind;
    Found found{false, may_have_};
    // First what is to be found out, then what is at home nowhere else.
    const auto comes = [](const Entry& here, int pass) {
        return pass == 0 ? here.wanted() : pass == 2 || !here.shared;
    };
    for (int pass = 0; pass < 3; ++pass) {
        for (TaskTypeId type = 0; type < types_.size(); ++type) {
            const bool has = types_[type].ready > 0 && comes(entry(type, kind), pass) && is_for(type, kind);
            may_have_[type] = has ? 1 : 0;
            found.any = found.any || has;
        }
        if (found.any) return found;
    }
    std::uint64_t now = 0;
    for (TaskTypeId type = 0; type < types_.size(); ++type) {
        if (types_[type].ready == 0 || !entry(type, kind).may_run) continue;
        if (now == 0) now = settings_.now();
        may_have_[type] = sooner_from(type, workers_[worker]) <= static_cast<double>(now) ? 1 : 0;
        found.any = found.any || may_have_[type] != 0;
    }
    return found;
}

std::span<const std::uint8_t> Placement::may_have(WorkerId worker) {
    return find(worker).types;
}

// From when on all workers of a kind are so late, if they are. A worker without tasks is never late.
double Placement::late_from(KindId kind, double so_late) const {
    double from = 0;
    for (const Worker& worker : workers_) {
        if (worker.kind != kind) continue;
        if (worker.busy_until == 0) return std::numeric_limits<double>::infinity();
        from = std::max(from, static_cast<double>(worker.busy_until) + so_late);
    }
    return from;
}

// Work of its workers before a task of this type that is ready now, each.
double Placement::ahead_on(KindId kind, TaskTypeId type) const {
    double ticks = 0;
    for (TaskTypeId each = 0; each < types_.size(); ++each) {
        const std::uint64_t before = types_[each].ready - (each == type ? 1 : 0);
        if (before > 0 && entry(each, kind).at_home)
            ticks += static_cast<double>(before) * ticks_of(each, kind);
    }
    return ticks / cores_[kind];
}

// From when on this worker may take a task that is at home elsewhere. It must have it done before those
// could, and have waited for its own for as long as it would waste: so it never wastes more than twice what
// it must.
double Placement::sooner_from(TaskTypeId type, const Worker& worker) const {
    const double here = ticks_of(type, worker.kind);
    double from = 0;
    for (KindId other = 0; other < kinds_; ++other) {
        const Entry& entry = this->entry(type, other);
        if (other == worker.kind || !entry.may_run || !entry.at_home) continue;
        const double there = ticks_of(type, other);
        const double wasted =
            prices_[worker.kind] > 0 ? here - there * prices_[other] / prices_[worker.kind] : 0;
        if (wasted < kWaitUs * settings_.ticks_per_us) continue;
        const double ahead = here < kHopeless * there ? ahead_on(other, type) : 0;
        from = std::max(
            {from, static_cast<double>(worker.idle_since) + wasted, late_from(other, here - there - ahead)});
    }
    return from;
}

std::uint64_t Placement::patience_ticks(WorkerId worker) const {
    constexpr double kLongest = 1e15;
    const auto now = static_cast<double>(settings_.now());
    double from = std::numeric_limits<double>::infinity();
    for (TaskTypeId type = 0; type < types_.size(); ++type) {
        if (types_[type].ready > 0 && entry(type, workers_[worker].kind).may_run)
            from = std::min(from, sooner_from(type, workers_[worker]));
    }
    return static_cast<std::uint64_t>(std::clamp(from - now, 1.0, kLongest));
}

void Placement::generate(std::uint64_t now) {
    next_generation_ = now + interval_;
    interval_ =
        std::min(2 * interval_, static_cast<std::uint64_t>(kLongestIntervalUs * settings_.ticks_per_us));
    estimate_ratios();
    find_homes();
    explore();
    indifferent_ = !pays_ && std::ranges::none_of(
                                 entries_, [](const Entry& each) { return !each.may_run || each.wanted(); });
    publish();
    double demand = 0;
    for (const Type& type : types_) demand += type.demand;
    if (demand <= kRemembered) return;
    for (Type& type : types_) type.demand /= 2;
}

void Placement::estimate_ratios() {
    for (KindId from = 0; from < kinds_; ++from) {
        for (KindId to = 0; to < kinds_; ++to) {
            double logs = 0;
            int known = 0;
            for (TaskTypeId type = 0; type < types_.size(); ++type) {
                if (!times_.on(from, type).known() || !times_.on(to, type).known()) continue;
                logs += std::log(static_cast<double>(times_.on(to, type).value()) /
                                 static_cast<double>(times_.on(from, type).value()));
                ++known;
            }
            ratios_[from * kinds_ + to] = known > 0 ? std::exp(logs / known) : 1;
        }
    }
}

void Placement::find_homes() {
    SplitWork work;
    std::vector<KindId> kind_of_way;
    for (KindId kind = 0; kind < kinds_; ++kind) {
        if (cores_[kind] == 0) continue;
        work.ways.push_back({work.pool_units.size(), 1});
        work.pool_units.push_back(cores_[kind]);
        kind_of_way.push_back(kind);
    }
    std::vector<TaskTypeId> known;
    for (TaskTypeId type = 0; type < types_.size(); ++type) {
        if (types_[type].demand == 0 || times_.least(type) == 0) continue;
        known.push_back(type);
        work.sequential.push_back(types_[type].sequential);
        for (const KindId kind : kind_of_way)
            work.weights.push_back(entry(type, kind).may_run ? types_[type].demand * ticks_of(type, kind)
                                                             : std::numeric_limits<double>::infinity());
    }
    if (known.empty()) return;
    const LeastPeriod least = least_period(work, 1e-6);
    pays_ = least.period * kPays < period_anyhow(work);
    for (std::size_t way = 0; way < kind_of_way.size(); ++way) prices_[kind_of_way[way]] = least.prices[way];
    for (std::size_t task = 0; task < known.size(); ++task) {
        double cheapest = std::numeric_limits<double>::infinity();
        const auto cost = [&](std::size_t way) { return least.prices[way] * work.weight(task, way); };
        const auto fits = [&](std::size_t way) {
            return !work.sequential[task] || work.weight(task, way) <= least.period * kAsCheap;
        };
        for (std::size_t way = 0; way < kind_of_way.size(); ++way)
            if (fits(way)) cheapest = std::min(cheapest, cost(way));
        int homes = 0;
        for (std::size_t way = 0; way < kind_of_way.size(); ++way) {
            Entry& each = entry(known[task], kind_of_way[way]);
            each.at_home = fits(way) && cost(way) <= cheapest * kAsCheap;
            each.dismissed = each.trust >= kFew && (!fits(way) || cost(way) > cheapest * kDear);
            homes += each.at_home;
        }
        for (const KindId kind : kind_of_way) entry(known[task], kind).shared = homes > 1;
    }
}

// Explores the task type that was seen least lately, of those that are not at home where they are.
void Placement::explore() {
    if (!settings_.explores || explored_ > kExplored * work_) return;
    Entry* oldest = nullptr;
    for (Entry& each : entries_) {
        if (!each.may_run || each.at_home || each.wanted()) continue;
        if (oldest == nullptr || each.last_call < oldest->last_call) oldest = &each;
    }
    if (oldest != nullptr) oldest->asked = true;
}

void Placement::publish() {
    factors_.begin_version();
    for (TaskTypeId type = 0; type < types_.size(); ++type) {
        for (KindId kind = 0; kind < kinds_; ++kind) {
            if (times_.least(type) == 0) continue;
            const double reference = ticks_of(type, 0);
            const bool measured = entry(type, kind).trust == kLearned && entry(type, 0).trust == kLearned;
            factors_.write(type, kind, reference > 0 ? ticks_of(type, kind) / reference : 1,
                           measured ? Quality::measured : Quality::estimated);
        }
    }
}

double Placement::explored_share() const {
    return work_ > 0 ? explored_ / work_ : 0;
}

}  // namespace tidemill::bridge
