#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidemill/scheduling/static/cost_model_file.hpp"
#include "tidemill/scheduling/static/herad.hpp"

/// Any text is a model or a ScheduleError; under it a small chain has a schedule that fits, or there is a
/// reason.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidemill;
    static const Chain chain{{"big", "little"},
                             {{"a", true, {5, 9.5}, 100}, {"b", false, {3, 4}, 7}, {"c", true, {20, 60.25}}}};
    constexpr int kCores = 3;
    const Platform platform{.big = kCores, .little = kCores};
    try {
        const CostModel model = parse_cost_model({reinterpret_cast<const char*>(data), size}, "fuzz.json");
        const CostModel again = parse_cost_model(to_json(model), "again.json");
        if (again.stage_us != model.stage_us || again.kinds.size() != model.kinds.size()) std::abort();
        const Schedule schedule = herad(chain, platform, {}, model);
        check(schedule, chain);
        check(schedule, platform);
        if (to_table(schedule, chain, model).empty() || !(power_w(schedule, platform, model) >= 0))
            std::abort();
    } catch (const ScheduleError&) {
    }
    return 0;
}
