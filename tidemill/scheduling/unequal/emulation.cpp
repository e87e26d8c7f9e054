#include "tidemill/scheduling/unequal/emulation.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "tidemill/base/json_location.hpp"
#include "tidemill/base/text_file.hpp"
#include "tidemill/scheduling/unequal/internal/as_bridge_error.hpp"

namespace tidemill::bridge {

namespace {

constexpr double kMostRatio = 1000;

double ratio_in(const JsonLocation& place) {
    const double ratio = place.number();
    if (!(ratio >= 1 && ratio <= kMostRatio))
        place.fail(fmt::format("a ratio from 1 to {}: a core is only made slower", kMostRatio));
    return ratio;
}

EmulatedKind kind_of(const Json& json, std::string_view source) {
    const JsonObject file(JsonLocation(json, std::string(source)), {"ratio", "from", "tasks"});
    EmulatedKind kind{std::string(source)};
    if (file.has("from")) static_cast<void>(file.at("from").text());
    if (file.has("ratio")) kind.ratio = ratio_in(file.at("ratio"));
    if (!file.has("tasks")) return kind;
    for (const auto& [name, place] : file.at("tasks").members()) {
        const JsonObject task(place, {"ratio", "stands_for"});
        if (task.has("stands_for")) static_cast<void>(task.at("stands_for").text());
        kind.tasks[name] = ratio_in(task.at("ratio"));
    }
    return kind;
}

EmulatedKind read(const std::string& path) {
    return as_bridge_error([&] { return kind_of(read_json(path), path); });
}

}  // namespace

double EmulatedKind::ratio_of(std::string_view task) const {
    for (const std::string_view name : {task, task.substr(0, task.find('.'))})
        if (const auto own = tasks.find(std::string(name)); own != tasks.end()) return own->second;
    return ratio;
}

EmulatedKind parse_emulated_kind(std::string_view text, std::string_view source) {
    return as_bridge_error([&] { return kind_of(parse_json(text, source), source); });
}

void add_emulated_kind(Emulation& emulation, std::string_view wish) {
    const std::size_t equals = wish.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == wish.size()) {
        throw BridgeError(fmt::format(
            "'{}' emulates no kind of cores: give KIND=RATIO or KIND=FILE, for instance little=2.5", wish));
    }
    const std::string said(wish.substr(equals + 1));
    double ratio = 0;
    const auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), ratio);
    const bool is_number = error == std::errc() && end == said.data() + said.size();
    if (is_number && !(ratio >= 1 && ratio <= kMostRatio)) {
        throw BridgeError(
            fmt::format("'{}': a ratio from 1 to {}: a core is only made slower", wish, kMostRatio));
    }
    const std::string name(wish.substr(0, equals));
    if (emulation.kinds.contains(name))
        throw BridgeError(fmt::format("'{}': kind {} is emulated already; give each once", wish, name));
    emulation.kinds[name] = is_number ? EmulatedKind{said, ratio} : read(said);
}

Emulation parse_emulation(std::string_view wishes) {
    Emulation emulation;
    for (std::size_t begin = 0; begin <= wishes.size();) {
        const std::size_t end = std::min(wishes.find(',', begin), wishes.size());
        add_emulated_kind(emulation, wishes.substr(begin, end - begin));
        begin = end + 1;
    }
    return emulation;
}

std::string to_string(const Emulation& emulation) {
    std::string text;
    for (const auto& [name, kind] : emulation.kinds)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name,
                            kind.tasks.empty() ? fmt::format("{} times slower", kind.ratio)
                                               : fmt::format("by {}", kind.said));
    return text;
}

}  // namespace tidemill::bridge
