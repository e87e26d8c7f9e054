#include "tidemill/bridge/known_tasks.hpp"

#include "tidemill/bridge/internal/as_bridge_error.hpp"
#include "tidemill/json/text_file.hpp"
#include "tidemill/schedule/profile_file.hpp"

namespace tidemill::bridge {

namespace {

KnownTask known_task(const Profile& profile, const ChainTask& task) {
    KnownTask known{.name = task.name, .replicable = task.replicable};
    for (std::size_t kind = 0; kind < profile.kinds.size(); ++kind)
        if (task.weight_us[kind] != kCannotRun && !profile.is_device(profile.kinds[kind]))
            known.kinds.emplace(profile.kinds[kind], KnownTime{task.weight_us[kind]});
    return known;
}

FactorFile file_of(const Json& json, const std::string& source) {
    const std::string text = to_text(json);
    if (json.find("known_tasks") != nullptr) return parse_factor_file(text, source);
    try {
        return known_tasks(parse_profile(text, source));
    } catch (const ScheduleError& error) {
        throw BridgeError(error.what());
    }
}

}  // namespace

FactorFile known_tasks(const Profile& profile) {
    FactorFile file{.machine = profile.measured_by, .cores = profile.cores};
    for (const ChainTask& task : profile.tasks) file.tasks.push_back(known_task(profile, task));
    return file;
}

FactorFile read_known_tasks(const std::filesystem::path& path) {
    return file_of(as_bridge_error([&] { return read_json(path); }), path.string());
}

}  // namespace tidemill::bridge
