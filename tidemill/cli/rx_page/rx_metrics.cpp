#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "tidemill/cli/plain_text.hpp"
#include "tidemill/cli/rx_page/rx_views.hpp"

namespace tidemill::cli {

namespace {

constexpr std::array<std::string_view, 8> kCounters{"frames",     "frames_bad",        "bch_corrected_bits",
                                                    "ts_packets", "continuity_errors", "samples_clipped",
                                                    "overflows",  "samples_missing"};

/// The line of a number; nothing for what is none.
struct MetricLine {
    std::string_view name;

    template <class Number>
    std::string line(Number value) const {
        const bool counts = std::ranges::find(kCounters, name) != kCounters.end();
        const std::string full = fmt::format("tidemill_rx_{}{}", name, counts ? "_total" : "");
        return fmt::format("# TYPE {} {}\n{} {}\n", full, counts ? "counter" : "gauge", full, value);
    }
    std::string operator()(bool truth) const { return line(truth ? 1 : 0); }
    std::string operator()(std::uint64_t number) const { return line(number); }
    std::string operator()(std::int64_t number) const { return line(number); }
    std::string operator()(double number) const { return std::isfinite(number) ? line(number) : ""; }
    std::string operator()(const auto&) const { return {}; }
};

std::string modcod_lines(const Json& status) {
    const Json* const modcods = status.find("modcods");
    const auto* const members = modcods ? modcods->get_if<Json::Object>() : nullptr;
    if (!members || members->empty()) return {};
    std::string text = "# TYPE tidemill_rx_modcod_frames_total counter\n";
    for (const auto& [name, frames] : *members)
        text += fmt::format("tidemill_rx_modcod_frames_total{{modcod=\"{}\"}} {}\n", label_text(name),
                            to_text(frames));
    return text;
}

std::string service_lines(const std::vector<io::TsService>& services) {
    if (services.empty()) return {};
    std::string text = "# TYPE tidemill_rx_service_packets_total counter\n";
    for (const io::TsService& service : services) {
        text += fmt::format("tidemill_rx_service_packets_total{{service=\"{}\",name=\"{}\"}} {}\n",
                            service.number, label_text(service.name), service.packets);
    }
    return text;
}

}  // namespace

std::string metrics_text(const Json& status) {
    std::string text;
    if (const auto* members = status.get_if<Json::Object>()) {
        for (const auto& [name, value] : *members) text += value.visit(MetricLine{name});
    }
    return text;
}

std::string label_text(const std::string& text) {
    std::string label;
    for (const char c : plain_line(text)) {
        if (c == '\\' || c == '"') label += '\\';
        label += c;
    }
    return label;
}

std::string RxViews::metrics(std::size_t viewers) const {
    const std::lock_guard lock(mutex_);
    const Json status = since_start_.since_start(last_s_);
    return metrics_text(status) + modcod_lines(status) + service_lines(ts_.services()) +
           MetricLine{"viewers"}(static_cast<std::uint64_t>(viewers));
}

}  // namespace tidemill::cli
