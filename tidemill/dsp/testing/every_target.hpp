#pragma once

#include <cstdint>
#include <string>

#include <doctest/doctest.h>
#include <hwy/targets.h>

namespace tidemill::dsp {

/// Makes the kernels run with one instruction set, or with the best again for 0.
inline void select_target(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

/// Runs `check` once with every instruction set that this processor and build have, and as they are chosen by
/// themselves: some kernels know one more.
template <class Check>
void on_every_target(Check check) {
    struct Restore {
        ~Restore() { select_target(0); }
    };
    const Restore restore;
    {
        INFO("the best instruction set");
        check();
    }
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        select_target(target);
        INFO("instruction set ", std::string(hwy::TargetName(target)));
        check();
    }
}

}  // namespace tidemill::dsp
