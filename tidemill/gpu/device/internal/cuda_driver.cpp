#include "tidemill/gpu/device/internal/cuda_driver.hpp"

#include <fmt/format.h>

#include "tidemill/gpu/device/device_error.hpp"

namespace tidemill::device::cuda {

Driver::Driver(const SharedLibrary& library) {
    library.find("cuInit", init);
    library.find("cuDriverGetVersion", driver_version);
    library.find("cuDeviceGetCount", device_count);
    library.find("cuDeviceGet", device_get);
    library.find("cuDeviceGetName", device_name);
    library.find("cuDeviceTotalMem_v2", device_memory);
    library.find("cuDeviceGetAttribute", device_attribute);
    library.find("cuDevicePrimaryCtxRetain", retain_context);
    library.find("cuDevicePrimaryCtxRelease_v2", release_context);
    library.find("cuCtxSetCurrent", set_context);
    library.find("cuMemGetInfo_v2", memory_info);
    library.find("cuMemAlloc_v2", allocate);
    library.find("cuMemFree_v2", release);
    library.find("cuMemHostAlloc", allocate_host);
    library.find("cuMemFreeHost", release_host);
    library.find("cuMemHostGetDevicePointer_v2", host_address);
    library.find("cuMemAllocManaged", allocate_managed);
    library.find("cuMemPrefetchAsync", prefetch);
    library.find("cuMemcpyHtoDAsync_v2", copy_to_device);
    library.find("cuMemcpy2DAsync_v2", copy_rows);
    library.find("cuMemcpyDtoHAsync_v2", copy_to_host);
    library.find("cuStreamCreate", create_stream);
    library.find("cuStreamDestroy_v2", destroy_stream);
    library.find("cuStreamSynchronize", synchronize_stream);
    library.find("cuEventCreate", create_event);
    library.find("cuEventDestroy_v2", destroy_event);
    library.find("cuEventRecord", record_event);
    library.find("cuEventQuery", query_event);
    library.find("cuEventElapsedTime", elapsed_ms);
    library.find("cuModuleLoadDataEx", load_module);
    library.find("cuModuleUnload", unload_module);
    library.find("cuModuleGetFunction", find_function);
    library.find("cuFuncSetAttribute", set_function_attribute);
    library.find("cuLaunchKernel", launch);
    library.find("cuGetErrorName", error_name);
    library.find("cuGetErrorString", error_text);
}

void Driver::check(Status status, const char* call, const std::string& where) const {
    if (status == kSuccess) return;
    const char* name = "unknown error";
    const char* text = "";
    error_name(status, &name);
    error_text(status, &text);
    const std::string what = fmt::format("{}: {} failed: {} ({})", where, call, name, text);
    if (status == kOutOfMemory) throw DeviceMemoryError(what + "; use smaller batches");
    throw DeviceError(what);
}

}  // namespace tidemill::device::cuda
