#include "tidemill/steer/known_programs.hpp"

#include <algorithm>

namespace tidemill::steer {

bridge::Factor known_factor(const bridge::FactorFile& file, const std::string& program,
                            const std::string& kind, const std::string& first_kind) {
    const bridge::KnownTask* task = file.find(program);
    if (task == nullptr) task = file.find(program.substr(0, program.find('.')));
    if (task == nullptr) return {};
    const auto there = task->kinds.find(kind);
    const auto first = task->kinds.find(first_kind);
    if (there == task->kinds.end() || first == task->kinds.end() || first->second.us <= 0) return {};
    return {there->second.us / first->second.us, std::min(there->second.quality, first->second.quality), 0};
}

}  // namespace tidemill::steer
