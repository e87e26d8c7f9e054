#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidemill/scheduling/static/schedule_file.hpp"

/// Any text is a schedule or a ScheduleError; a schedule that was written is read back equal, but for
/// resources.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tidemill;
    try {
        const Schedule read = parse_schedule({reinterpret_cast<const char*>(data), size}, "fuzz.json");
        const Schedule again = parse_schedule(to_json(read), "again.json");
        if (again.stages != read.stages || again.task_names != read.task_names) std::abort();
        if (again.period_us != read.period_us || again.made_by != read.made_by) std::abort();
        cores_used(read);
    } catch (const ScheduleError&) {
    }
    return 0;
}
