#include "tidemill/apps/reception/page/page_knobs.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "tidemill/base/error.hpp"
#include "tidemill/runtime/graph/knob_layout.hpp"
#include "tidemill/runtime/stream/knob_book.hpp"

namespace tidemill::cli {

namespace {

// Behind all changes that are known.
constexpr std::uint64_t kLastFrame = std::numeric_limits<std::uint64_t>::max() >> 2;

const SocketInfo& socket_of(const KnobLayout::Place& place, const Graph& graph) {
    return graph.module(place.module).sockets()[place.socket];
}

bool is_slider(const SocketInfo& knob) {
    const auto& range = knob.knob->range;
    return knob.count == 1 && std::isfinite(range.least) && std::isfinite(range.most);
}

std::optional<double> number_in(const Json& json, std::string_view name) {
    const Json* const value = json.find(name);
    if (!value) return std::nullopt;
    return value->visit([](const auto& one) -> std::optional<double> {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(one)>>) return static_cast<double>(one);
        return std::nullopt;
    });
}

}  // namespace

Json PageKnobs::describe() const {
    Json knobs = Json::array();
    const KnobLayout layout = knob_layout_of(graph_);
    if (layout.places.empty()) return knobs;
    const std::vector<std::byte> values = KnobBook::of(graph_)->values_at(kLastFrame);
    for (const KnobLayout::Place& place : layout.places) {
        const SocketInfo& knob = socket_of(place, graph_);
        if (!is_slider(knob)) continue;
        const auto bytes = std::span(values).subspan(place.offset, place.bytes);
        knobs.push_back(Json{{"name", place.name},
                             {"value", numbers_of(knob, bytes).front()},
                             {"least", knob.knob->range.least},
                             {"most", knob.knob->range.most}});
    }
    return knobs;
}

page::PageAnswer PageKnobs::set(const std::string& body) {
    try {
        const Json wish = parse_json(body, "the wish");
        const Json* const name = wish.find("name");
        const std::string* const knob = name ? name->get_if<std::string>() : nullptr;
        const auto value = number_in(wish, "value");
        if (!knob || !value) return {400, "give a knob's name and its value"};
        const KnobLayout layout = knob_layout_of(graph_);
        const KnobLayout::Place& place = layout.named(*knob);
        const Module& module = graph_.module(place.module);
        KnobSettings settings;
        settings.settings.push_back(
            {{&module, place.socket}, bytes_of_numbers(module, place.socket, std::span(&*value, 1))});
        const SetAt at = KnobBook::of(graph_)->set(settings);
        return {200, fmt::format("{} is {} from frame {} on", *knob, *value, at.frame)};
    } catch (const Error& error) {
        return {400, error.what()};
    }
}

}  // namespace tidemill::cli
