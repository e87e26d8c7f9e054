#include "tidemill/tuning/adapt/adaptation.hpp"

#include <algorithm>
#include <utility>

#include "tidemill/scheduling/static/near_schedule.hpp"
#include "tidemill/tuning/profile/live_profile.hpp"

namespace tidemill {

namespace {

void scale(std::vector<double>& weights_us, double before_us, double seen_us) {
    for (double& weight_us : weights_us) {
        if (weight_us == kCannotRun) continue;
        weight_us = before_us > 0 ? weight_us * seen_us / before_us : seen_us;
    }
}

// Mean weight of a unit in a mixed stage by the profile, per frame of the stream.
double mean_by_word_us(const CyclicWord& word, const Profile& profile,
                       const std::vector<double>& weights_us) {
    double sum_us = 0;
    for (const std::size_t thread : word.letters)
        sum_us += weights_us[profile.kind_index(word.kinds[thread])];
    return sum_us / static_cast<double>(word.letters.size());
}

// Takes the time of a unit in a stage on one kind of cores.
void learn(std::vector<double>& weights_us, std::vector<bool>& on_kinds, std::size_t kind, double seen_us) {
    const bool elsewhere = std::ranges::count(on_kinds, true) > 0;
    if (elsewhere && !on_kinds[kind]) {
        weights_us[kind] = seen_us;
    } else {
        scale(weights_us, weights_us[kind], seen_us);
    }
    on_kinds[kind] = true;
}

}  // namespace

Profile updated(Profile profile, const Schedule& schedule, const LiveWindow& seen, RanOnKinds& on_kinds) {
    const std::size_t kinds = profile.kinds.size();
    on_kinds.resize(profile.tasks.size(), std::vector<bool>(kinds));
    for (const Stage& stage : schedule.stages) {
        for (std::size_t unit = stage.first_task; unit < stage.first_task + stage.task_count; ++unit) {
            std::vector<double>& weights_us = profile.tasks[unit].weight_us;
            const double seen_us = seen.weights_us[unit];
            if (seen_us == 0) continue;
            if (stage.word) {
                scale(weights_us, mean_by_word_us(*stage.word, profile, weights_us), seen_us);
            } else {
                learn(weights_us, on_kinds[unit], profile.kind_index(stage.core_kind), seen_us);
            }
        }
    }
    static_cast<Chain&>(profile) = rounded(profile);
    return profile;
}

std::optional<Schedule> better_schedule(const Profile& profile, const Schedule& now,
                                        const AdaptationOptions& options) {
    const Strategy& asked = options.strategy ? *options.strategy : strategy("herad");
    Schedule best = near_schedule(asked, profile, options.cores, options.objective, options.model);
    best.frames_in_flight = now.frames_in_flight;
    best.period_us = period_us(best, profile, options.model);
    if (*best.period_us > (1 - options.threshold) * period_us(now, profile, options.model))
        return std::nullopt;
    for (const CoreResource& resource : now.resources)
        if (std::ranges::find(best.resources, resource.kind, &CoreResource::kind) == best.resources.end())
            best.resources.push_back(resource);
    // A schedule that names no tasks is for a graph that calls them otherwise.
    if (now.task_names.empty()) best.task_names.clear();
    return best;
}

Adaptation::Adaptation(Pipeline& pipeline, Profile profile, Schedule schedule, AdaptationOptions options)
    : pipeline_(pipeline),
      profile_(std::move(profile)),
      schedule_(std::move(schedule)),
      options_(std::move(options)),
      live_(std::make_unique<LiveProfile>(pipeline.structure())) {}

Adaptation::~Adaptation() = default;

Observer& Adaptation::observer() {
    return *live_;
}

bool Adaptation::look() {
    const LiveWindow seen = live_->take(options_.least_frames);
    if (seen.frames == 0) return false;
    frames_ += seen.frames;
    // Just after a change, what was seen belongs to both schedules.
    if (std::exchange(just_changed_, false)) return false;
    profile_ = updated(std::move(profile_), schedule_, seen, on_kinds_);
    std::optional<Schedule> best = better_schedule(profile_, schedule_, options_);
    if (!best) return false;
    pipeline_.reschedule(*best);
    changes_.push_back({frames_, period_us(schedule_, profile_, options_.model), *best->period_us});
    schedule_ = *std::move(best);
    just_changed_ = true;
    return true;
}

}  // namespace tidemill
