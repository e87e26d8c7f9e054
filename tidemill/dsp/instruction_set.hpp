#pragma once

#include <string>
#include <vector>

namespace tidemill::dsp {

/// The instruction sets that kernels were built for and that this processor has, best first: "AVX3", "AVX2",
/// ...
std::vector<std::string> instruction_sets();

/// The one of them that is called `name`; throws DspError, which names them all, where there is no such one.
std::string instruction_set_of(const std::string& name);

/// From now on all kernels of this process use one of instruction_sets(), so that they round as another
/// machine's do. Call it while none runs. Throws DspError.
void use_instruction_set(const std::string& name);

}  // namespace tidemill::dsp
