#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tidemill {

/// PTX of one kernel source, for GPUs of NVIDIA from a compute capability on.
struct PtxImage {
    int from_capability;  ///< 80: 8.0
    std::string_view options;
    std::string_view text;
};

/// Kernels as they lie in the program: OpenCL C 1.2 and, where the build had the compiler, the same as PTX.
struct KernelSource {
    std::string_view name;
    std::string_view opencl;
    std::span<const PtxImage> ptx;
};

/// A source and the macros it is compiled with, "-DDEGREE=7": one of those that its room's build names.
struct KernelVariant {
    KernelSource source;
    std::string options;
};

}  // namespace tidemill
