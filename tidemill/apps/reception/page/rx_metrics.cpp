#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "tidemill/apps/reception/page/rx_views.hpp"
#include "tidemill/base/plain_text.hpp"

namespace tidemill::cli {

namespace {

constexpr std::array<std::string_view, 8> kCounters{"frames",     "frames_bad",        "bch_corrected_bits",
                                                    "ts_packets", "continuity_errors", "samples_clipped",
                                                    "overflows",  "samples_missing"};

/// A number as Prometheus reads it; empty for other values.
struct MetricText {
    std::string operator()(bool truth) const { return truth ? "1" : "0"; }
    std::string operator()(std::uint64_t number) const { return fmt::format("{}", number); }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const {
        return std::isfinite(number) ? fmt::format("{}", number) : "";
    }
    std::string operator()(const auto&) const { return {}; }
};

/// Labels of one carrier among several; empty labels where there is only one.
std::string labels_of(const RxMetrics& one, std::string more = {}) {
    if (one.carrier) more = fmt::format("carrier=\"{}\"{}{}", *one.carrier, more.empty() ? "" : ",", more);
    return more.empty() ? "" : "{" + more + "}";
}

/// The lines of one name, with its type before them; nothing where there is none.
struct Metric {
    std::string name;
    std::string_view type;
    std::string lines{};

    void add(const std::string& labels, const std::string& value) {
        if (!value.empty()) lines += fmt::format("{}{} {}\n", name, labels, value);
    }
    std::string text() const {
        return lines.empty() ? "" : fmt::format("# TYPE {} {}\n{}", name, type, lines);
    }
};

Metric metric_of(std::string_view field) {
    const bool counts = std::ranges::find(kCounters, field) != kCounters.end();
    return {fmt::format("tidemill_rx_{}{}", field, counts ? "_total" : ""), counts ? "counter" : "gauge"};
}

// Every status has the same fields.
std::string field_lines(const std::vector<RxMetrics>& carriers) {
    std::string text;
    if (carriers.empty()) return text;
    for (const auto& [name, value] : *carriers.front().status.get_if<Json::Object>()) {
        Metric metric = metric_of(name);
        for (const RxMetrics& one : carriers)
            if (const Json* const field = one.status.find(name))
                metric.add(labels_of(one), field->visit(MetricText{}));
        text += metric.text();
    }
    return text;
}

std::string modcod_lines(const std::vector<RxMetrics>& carriers) {
    Metric metric{"tidemill_rx_modcod_frames_total", "counter"};
    for (const RxMetrics& one : carriers) {
        const Json* const modcods = one.status.find("modcods");
        const auto* const members = modcods ? modcods->get_if<Json::Object>() : nullptr;
        if (!members) continue;
        for (const auto& [name, frames] : *members)
            metric.add(labels_of(one, fmt::format("modcod=\"{}\"", label_text(name))), to_text(frames));
    }
    return metric.text();
}

// Counters go by numbers alone: a name is a stranger's, and may change as often as it likes.
std::string service_lines(const std::vector<RxMetrics>& carriers) {
    Metric packets{"tidemill_rx_service_packets_total", "counter"};
    Metric info{"tidemill_rx_service_info", "gauge"};
    for (const RxMetrics& one : carriers) {
        for (const io::TsService& service : one.services) {
            const std::string number = fmt::format("service=\"{}\"", service.number);
            packets.add(labels_of(one, number), fmt::format("{}", service.packets));
            info.add(labels_of(one, fmt::format("{},name=\"{}\"", number, label_text(service.name))), "1");
        }
    }
    return packets.text() + info.text();
}

}  // namespace

std::string metrics_text(const std::vector<RxMetrics>& carriers, std::size_t viewers) {
    Metric looking{"tidemill_rx_viewers", "gauge"};
    looking.add("", fmt::format("{}", viewers));
    return field_lines(carriers) + modcod_lines(carriers) + service_lines(carriers) + looking.text();
}

std::string label_text(const std::string& text) {
    std::string label;
    for (const char c : plain_line(text)) {
        if (c == '\\' || c == '"') label += '\\';
        label += c;
    }
    return label;
}

}  // namespace tidemill::cli
