#include "tidemill/gpu/device/internal/opencl_driver.hpp"

#include <fmt/format.h>

#include "tidemill/gpu/device/device_error.hpp"

namespace tidemill::device::opencl {

Driver::Driver(const SharedLibrary& library) {
    library.find("clGetPlatformIDs", platforms);
    library.find("clGetDeviceIDs", devices);
    library.find("clGetDeviceInfo", device_info);
    library.find("clCreateContext", create_context);
    library.find("clReleaseContext", release_context);
    library.find("clCreateCommandQueue", create_queue);
    library.find("clReleaseCommandQueue", release_queue);
    library.find("clCreateBuffer", create_buffer);
    library.find("clReleaseMemObject", release_memory);
    library.find("clEnqueueReadBuffer", read_buffer);
    library.find("clEnqueueWriteBuffer", write_buffer);
    library.find("clEnqueueWriteBufferRect", write_rows);
    library.find("clEnqueueMapBuffer", map_buffer);
    library.find("clEnqueueUnmapMemObject", unmap);
    library.find("clCreateProgramWithSource", create_program);
    library.find("clBuildProgram", build_program);
    library.find("clGetProgramBuildInfo", build_info);
    library.find("clReleaseProgram", release_program);
    library.find("clCreateKernel", create_kernel);
    library.find("clReleaseKernel", release_kernel);
    library.find("clSetKernelArg", set_argument);
    library.find("clEnqueueNDRangeKernel", launch);
    library.find("clEnqueueMarkerWithWaitList", mark);
    library.find("clFlush", flush);
    library.find("clFinish", finish);
    library.find("clGetEventInfo", event_info);
    library.find("clGetEventProfilingInfo", profiling_info);
    library.find("clReleaseEvent", release_event);
    library.find_optional("clSVMAlloc", svm_allocate);
    library.find_optional("clSVMFree", svm_release);
    library.find_optional("clEnqueueSVMMap", svm_map);
    library.find_optional("clEnqueueSVMUnmap", svm_unmap);
    library.find_optional("clSetKernelArgSVMPointer", set_svm_argument);
}

bool Driver::has_svm() const {
    return svm_allocate != nullptr && svm_release != nullptr && svm_map != nullptr && svm_unmap != nullptr &&
           set_svm_argument != nullptr;
}

void Driver::check(Status status, const char* call, const std::string& where) const {
    if (status == kSuccess) return;
    const std::string what = fmt::format("{}: {} failed with OpenCL error {}", where, call, status);
    if (status == kOutOfDeviceMemory || status == kOutOfResources || status == kTooBigForDevice)
        throw DeviceMemoryError(what + " (out of memory or other resources: use smaller batches)");
    throw DeviceError(what);
}

}  // namespace tidemill::device::opencl
