#include "tidemill/apps/reception/page/rx_history.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "tidemill/dvbs2/standard/modcod_name.hpp"

namespace tidemill::cli {

namespace {

std::optional<double> least_margin(const std::optional<double>& a, const std::optional<double>& b) {
    return a && b ? std::min(*a, *b) : a ? a : b;
}

// Each weighs as much as it has frames.
std::optional<double> mean_iterations(const RxMoment& a, const RxMoment& b) {
    if (!a.iterations || !b.iterations) return a.iterations ? a.iterations : b.iterations;
    const auto frames_a = static_cast<double>(a.frames), frames_b = static_cast<double>(b.frames);
    return frames_a + frames_b > 0
               ? (*a.iterations * frames_a + *b.iterations * frames_b) / (frames_a + frames_b)
               : *a.iterations;
}

RxMoment joined(const RxMoment& first, const RxMoment& second) {
    return {.time_s = second.time_s,
            .locked = first.locked && second.locked,
            .margin_db = least_margin(first.margin_db, second.margin_db),
            .iterations = mean_iterations(first, second),
            .mbps = (first.mbps + second.mbps) / 2,
            .frames = first.frames + second.frames,
            .frames_bad = first.frames_bad + second.frames_bad,
            .packets_lost = first.packets_lost + second.packets_lost,
            .overflows = first.overflows + second.overflows,
            .modcod = second.modcod.empty() ? first.modcod : second.modcod};
}

// Three digits are what a picture shows.
Json short_number(const std::optional<double>& number) {
    return number && std::isfinite(*number) ? Json(std::round(*number * 1000) / 1000) : Json();
}

RxMoment moment_of(const RxView& view) {
    RxMoment moment{.time_s = view.time_s,
                    .locked = view.now.locked,
                    .mbps = view.info_mbps,
                    .frames = view.frames,
                    .frames_bad = view.frames_bad};
    const std::uint64_t good = view.frames - view.frames_bad;
    if (good > 0) moment.iterations = static_cast<double>(view.ldpc_iterations) / static_cast<double>(good);
    if (!view.pls || !view.now.locked) return moment;
    const dvbs2::Modcod& modcod = *dvbs2::find_modcod(view.pls->modcod);
    moment.margin_db = view.esn0_db - modcod.esn0_threshold_db;
    moment.modcod = fmt::format("{} {}", modcod_name(modcod), name(view.pls->size));
    return moment;
}

}  // namespace

void RxHistory::add(const RxView& view) {
    newest_ = moment_of(view);
    newest_.packets_lost =
        view.ts.continuity_errors - std::exchange(packets_lost_, view.ts.continuity_errors);
    const std::uint64_t overflows = view.ring ? view.ring->gaps : 0;
    newest_.overflows = overflows - std::exchange(overflows_, overflows);
    growing_ = grown_ == 0 ? newest_ : joined(growing_, newest_);
    if (++grown_ < views_each_) return;
    grown_ = 0;
    moments_.push_back(growing_);
    if (moments_.size() >= kMostMoments) halve();
}

void RxHistory::halve() {
    for (std::size_t i = 0; i + 1 < moments_.size(); i += 2)
        moments_[i / 2] = joined(moments_[i], moments_[i + 1]);
    moments_.resize(moments_.size() / 2);
    views_each_ *= 2;
}

Json RxHistory::json_of(const RxMoment& moment) {
    return Json{{"time_s", short_number(moment.time_s)},
                {"locked", moment.locked},
                {"margin_db", short_number(moment.margin_db)},
                {"iterations", short_number(moment.iterations)},
                {"mbps", short_number(moment.mbps)},
                {"frames", moment.frames},
                {"frames_bad", moment.frames_bad},
                {"packets_lost", moment.packets_lost},
                {"overflows", moment.overflows},
                {"modcod", moment.modcod}};
}

Json RxHistory::json() const {
    Json all = Json::array();
    for (const RxMoment& moment : moments_) all.push_back(json_of(moment));
    return all;
}

}  // namespace tidemill::cli
