#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tidemill/scheduling/static/profile_file.hpp"
#include "tidemill/scheduling/static/strategy.hpp"

namespace {

using namespace tidemill;

// Few cores and tasks: it is the numbers that are strange.
bool is_small(const Platform& platform, const Profile& profile) {
    int cores = 0;
    for (const auto& [kind, count] : platform.kinds()) cores += count > 8 ? 100 : count;
    return cores <= 16 && profile.tasks.size() <= 24;
}

void schedule_by_all(const Profile& profile, const Platform& platform) {
    for (const Strategy& strategy : strategies()) {
        try {
            const Schedule schedule = strategy.schedule(profile, platform, {}, {});
            check(schedule, profile);
            check(schedule, platform);
            if (to_table(schedule, profile).empty()) std::abort();
        } catch (const ScheduleError&) {
        }
    }
}

}  // namespace

/// Any line of a batch is a profile or a ScheduleError; every strategy makes a schedule of it that fits, or
/// says why not; a profile that was written is read back equal.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Profile profile;
    try {
        profile = parse_profile({reinterpret_cast<const char*>(data), size}, "fuzz.json");
    } catch (const ScheduleError&) {
        return 0;
    }
    if (!(parse_profile(to_json(profile), "again.json") == profile)) std::abort();
    schedule_by_all(profile,
                    is_small(profile.cores, profile) ? profile.cores : Platform{.big = 2, .little = 2});
    return 0;
}
