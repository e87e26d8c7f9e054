#include "tidemill/runtime/stream/knob_record.hpp"

#include <utility>

namespace tidemill {

JournalRecord::Setting record_of(const KnobSettings& settings) {
    JournalRecord::Setting record{settings.from ? settings.from->frame : 0, {}};
    for (const KnobSetting& each : settings.settings) {
        const Module& module = *each.knob.module;
        record.values.emplace_back(module.path_of_socket(each.knob.index),
                                   numbers_of(module.sockets()[each.knob.index], each.bytes));
    }
    return record;
}

KnobSettings settings_of(const JournalRecord::Setting& setting, const Graph& graph, const KnobLayout& knobs) {
    KnobSettings settings;
    settings.from = From{setting.frame};
    for (const auto& [name, numbers] : setting.values) {
        const KnobLayout::Place& place = knobs.named(name);
        const Module& module = graph.module(place.module);
        settings.settings.push_back(
            {{&module, place.socket}, bytes_of_numbers(module, place.socket, numbers)});
    }
    return settings;
}

Json values_json(const JournalRecord::Setting& setting) {
    Json values = Json::object();
    for (const auto& [name, numbers] : setting.values)
        values[name] = numbers.size() == 1 ? Json(numbers.front()) : Json(numbers);
    return values;
}

JournalRecord::Setting read_values(const JsonLocation& values, std::uint64_t frame) {
    JournalRecord::Setting setting{frame, {}};
    for (const auto& [name, value] : values.members()) {
        std::vector<double> numbers;
        if (value.value().get_if<Json::Array>()) {
            for (const JsonLocation& each : value.elements()) numbers.push_back(each.number());
        } else {
            numbers.push_back(value.number());
        }
        setting.values.emplace_back(name, std::move(numbers));
    }
    return setting;
}

}  // namespace tidemill
