#include "tidemill/dsp/instruction_set.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include "tidemill/dsp/dsp_error.hpp"

namespace tidemill::dsp {

namespace {

// The processor's features do not change, those that a process may use do.
const std::vector<std::int64_t>& targets_here() {
    static const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
    return targets;
}

}  // namespace

std::vector<std::string> instruction_sets() {
    std::vector<std::string> names;
    for (const std::int64_t target : targets_here()) names.emplace_back(hwy::TargetName(target));
    return names;
}

std::string instruction_set_of(const std::string& name) {
    const std::vector<std::string> names = instruction_sets();
    if (std::ranges::find(names, name) != names.end()) return name;
    throw DspError(
        fmt::format("this machine has no instruction set '{}': there are {}", name, fmt::join(names, ", ")));
}

void use_instruction_set(const std::string& name) {
    instruction_set_of(name);
    for (const std::int64_t target : targets_here()) {
        if (name != hwy::TargetName(target)) continue;
        hwy::DisableTargets(~target);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
}

}  // namespace tidemill::dsp
