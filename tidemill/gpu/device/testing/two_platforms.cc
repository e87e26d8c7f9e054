// A library like OpenCL's loader, for tests: two platforms that list some devices both, and do nothing, and one
// in front of them whose driver fails.
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>

namespace {

struct Listed {
    const char* name;
    std::uint64_t memory_bytes;
    unsigned bus;  // 0: it does not report it
};

// Two cards alike, whose places one platform reports, one card without a known place, and a card that only
// the second platform knows.
Listed first[] = {{"Card", 8'000, 0x3b}, {"Card", 8'000, 0x5e}, {"Laptop", 2'000, 0}};
Listed broken[] = {{"Broken", 0, 0}};
Listed second[] = {
    {"Maker Card", 7'900, 0x5e}, {"Maker Card", 7'900, 0x3b}, {"Laptop", 2'000, 0}, {"Card", 8'000, 0}};

template <class Value>
int give(void* to, std::size_t bytes, const Value& value) {
    if (bytes < sizeof value) return -30;
    std::memcpy(to, &value, sizeof value);
    return 0;
}

int give_text(void* to, std::size_t bytes, const std::string& text) {
    std::strncpy(static_cast<char*>(to), text.c_str(), bytes);
    return 0;
}

}  // namespace

extern "C" {

int clGetPlatformIDs(unsigned, void** all, unsigned* count) {
    if (count != nullptr) *count = 3;
    if (all == nullptr) return 0;
    all[0] = broken;
    all[1] = first;
    all[2] = second;
    return 0;
}

int clGetDeviceIDs(void* platform, std::uint64_t, unsigned, void** all, unsigned* count) {
    if (platform == broken) return -6;  // CL_OUT_OF_HOST_MEMORY
    Listed* devices = static_cast<Listed*>(platform);
    const auto own = static_cast<unsigned>(platform == first ? std::size(first) : std::size(second));
    if (count != nullptr) *count = own;
    for (unsigned i = 0; all != nullptr && i < own; ++i) all[i] = devices + i;
    return 0;
}

int clGetDeviceInfo(void* device, unsigned which, std::size_t bytes, void* to, std::size_t*) {
    const Listed& listed = *static_cast<const Listed*>(device);
    switch (which) {
        case 0x102B:
            return give_text(to, bytes, listed.name);
        case 0x102F:
            return give_text(to, bytes, "OpenCL 3.0");
        case 0x102D:
            return give_text(to, bytes, "1");
        case 0x1000:
            return give(to, bytes, std::uint64_t{4});  // a GPU
        case 0x101F:
            return give(to, bytes, listed.memory_bytes);
        case 0x1023:
            return give(to, bytes, std::uint64_t{48} << 10U);
        case 0x1002:
            return give(to, bytes, 8U);
        case 0x1035:
            return give(to, bytes, 0U);
        case 0x410F: {
            const unsigned place[4] = {0, listed.bus, 0, 0};
            return listed.bus == 0 ? -30 : give(to, bytes, place);
        }
        default:
            return -30;  // CL_INVALID_VALUE
    }
}

// Functions that the loader has, too, and nobody calls here.
#define NOT_CALLED(name) \
    int name() {         \
        return -59;      \
    }
NOT_CALLED(clCreateContext)
NOT_CALLED(clReleaseContext)
NOT_CALLED(clCreateCommandQueue)
NOT_CALLED(clReleaseCommandQueue)
NOT_CALLED(clCreateBuffer)
NOT_CALLED(clReleaseMemObject)
NOT_CALLED(clEnqueueReadBuffer)
NOT_CALLED(clEnqueueWriteBuffer)
NOT_CALLED(clEnqueueWriteBufferRect)
NOT_CALLED(clEnqueueMapBuffer)
NOT_CALLED(clEnqueueUnmapMemObject)
NOT_CALLED(clCreateProgramWithSource)
NOT_CALLED(clBuildProgram)
NOT_CALLED(clGetProgramBuildInfo)
NOT_CALLED(clReleaseProgram)
NOT_CALLED(clCreateKernel)
NOT_CALLED(clReleaseKernel)
NOT_CALLED(clSetKernelArg)
NOT_CALLED(clEnqueueNDRangeKernel)
NOT_CALLED(clEnqueueMarkerWithWaitList)
NOT_CALLED(clFlush)
NOT_CALLED(clFinish)
NOT_CALLED(clGetEventInfo)
NOT_CALLED(clGetEventProfilingInfo)
NOT_CALLED(clReleaseEvent)
}
