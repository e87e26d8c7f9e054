#include "tidemill/scheduling/static/cost_model.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace tidemill {
namespace {

constexpr double kMaxWatts = 1e6;
constexpr double kMaxSlowdown = 1e3;

bool is_cost(double value) {
    return std::isfinite(value) && value >= 0;
}

void check_cost(std::string_view name, double value) {
    if (!is_cost(value))
        throw ScheduleError(
            fmt::format("model: {} is {}; expected a finite number, at least 0", name, value));
}

void check_bytes(const CostModel& model, const Chain& chain) {
    for (const double bytes : model.bytes_at_cut) check_cost("bytes_at_cut", bytes);
    if (!model.bytes_at_cut.empty() && model.bytes_at_cut.size() + 1 != chain.tasks.size())
        throw ScheduleError(
            fmt::format("model: bytes_at_cut has {} numbers, expected {} (one after each task "
                        "but the last)",
                        model.bytes_at_cut.size(), chain.tasks.size() - 1));
}

void check_slowdown(const KindCosts& kind, double factor, double least) {
    if (!(factor >= least && factor <= kMaxSlowdown))
        throw ScheduleError(fmt::format(
            "model: slowdown {} of '{}'; expected {} to {}: cores get slower, not faster, as more "
            "are busy",
            factor, kind.kind, least, kMaxSlowdown));
}

void check_kind(const KindCosts& kind) {
    if (!is_cost(kind.idle_w) || !(kind.busy_w >= kind.idle_w) || kind.busy_w > kMaxWatts)
        throw ScheduleError(
            fmt::format("model: '{}' draws {} W busy and {} W idle; expected 0 <= idle <= busy <= {}",
                        kind.kind, kind.busy_w, kind.idle_w, kMaxWatts));
    double least = 1;
    for (const double factor : kind.slowdown) {
        check_slowdown(kind, factor, least);
        least = factor;
    }
    if (kind.shared_slowdown) check_slowdown(kind, *kind.shared_slowdown, 1);
}

void check_far_cuts(const FarCuts& far) {
    if (!is_cost(far.hop_us) || !is_cost(far.byte_us))
        throw ScheduleError(
            fmt::format("model: a far cut on '{}' costs {} us, and {} us a byte; expected finite numbers, at "
                        "least 0",
                        far.kind, far.hop_us, far.byte_us));
    std::set<int> known;
    for (const std::vector<int>& cluster : far.clusters)
        for (const int core : cluster)
            if (!known.insert(core).second)
                throw ScheduleError(fmt::format("model: core {} of '{}' is in two clusters; leave it in one",
                                                core, far.kind));
}

std::optional<double> parse_watt(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !is_cost(value)) return std::nullopt;
    return value;
}

KindCosts parse_kind_watts(std::string_view item, std::string_view whole) {
    const auto equals = item.find('=');
    const std::string_view numbers = equals == std::string_view::npos ? "" : item.substr(equals + 1);
    const auto slash = numbers.find('/');
    const auto busy = parse_watt(numbers.substr(0, slash));
    const auto idle =
        slash == std::string_view::npos ? std::optional(0.0) : parse_watt(numbers.substr(slash + 1));
    if (equals == 0 || !busy || !idle)
        throw ScheduleError(
            fmt::format("watts \"{}\": '{}' is not KIND=BUSY or KIND=BUSY/IDLE; write for "
                        "instance \"big=1.0,little=0.25\"",
                        whole, item));
    return {.kind = std::string(item.substr(0, equals)), .busy_w = *busy, .idle_w = *idle};
}

}  // namespace

bool CostModel::has_published_periods() const {
    const auto slows = [](const KindCosts& kind) { return !kind.slowdown.empty() || kind.shared_slowdown; };
    return stage_us == 0 && hop_us == 0 && byte_us == 0 && std::ranges::none_of(kinds, slows);
}

bool CostModel::has_power() const {
    return std::ranges::any_of(kinds, [](const KindCosts& kind) { return kind.busy_w > 0; });
}

KindCosts CostModel::kind(std::string_view name) const {
    const auto found = std::ranges::find(kinds, name, &KindCosts::kind);
    return found == kinds.end() ? KindCosts{.kind = std::string(name)} : *found;
}

double CostModel::cut_us(std::size_t task) const {
    return hop_us + (bytes_at_cut.empty() ? 0 : byte_us * bytes_at_cut.at(task));
}

double CostModel::far_cut_us(std::size_t task, const FarCuts& far) const {
    return far.hop_us + (bytes_at_cut.empty() ? 0 : far.byte_us * bytes_at_cut.at(task));
}

CostModel with_bytes_of(const Chain& chain, CostModel model) {
    if (!model.bytes_at_cut.empty() || chain.tasks.empty()) return model;
    for (std::size_t task = 0; task + 1 < chain.tasks.size(); ++task)
        model.bytes_at_cut.push_back(chain.tasks[task].bytes_after);
    return model;
}

double slowdown(const KindCosts& kind, int busy_cores) {
    if (kind.slowdown.empty() || busy_cores < 1) return 1;
    return kind.slowdown[std::min(static_cast<std::size_t>(busy_cores), kind.slowdown.size()) - 1];
}

void check(const CostModel& model, const Chain& chain) {
    check_cost("stage_us", model.stage_us);
    check_cost("hop_us", model.hop_us);
    check_cost("byte_us", model.byte_us);
    check_bytes(model, chain);
    for (std::size_t i = 0; i < model.kinds.size(); ++i) {
        const KindCosts& kind = model.kinds[i];
        chain.kind_index(kind.kind);
        if (std::ranges::find(model.kinds, kind.kind, &KindCosts::kind) !=
            model.kinds.begin() + static_cast<std::ptrdiff_t>(i))
            throw ScheduleError(fmt::format("model: core kind '{}' is listed twice; keep one", kind.kind));
        check_kind(kind);
    }
    std::ranges::for_each(model.far_cuts, check_far_cuts);
}

std::vector<KindCosts> parse_watts(std::string_view text) {
    std::vector<KindCosts> kinds;
    for (std::size_t begin = 0; begin <= text.size();) {
        const auto end = std::min(text.find(',', begin), text.size());
        kinds.push_back(parse_kind_watts(text.substr(begin, end - begin), text));
        if (std::ranges::count(kinds, kinds.back().kind, &KindCosts::kind) > 1)
            throw ScheduleError(
                fmt::format("watts \"{}\": '{}' is there twice; keep one", text, kinds.back().kind));
        begin = end + 1;
    }
    return kinds;
}

}  // namespace tidemill
