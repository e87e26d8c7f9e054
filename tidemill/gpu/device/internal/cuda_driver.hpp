#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tidemill/gpu/device/internal/shared_library.hpp"

// The used part of the CUDA driver API, declared here so that building needs none of its headers. Names,
// values and signatures are those of its reference manual.

namespace tidemill::device::cuda {

using Status = int;
using Ordinal = int;
using Address = std::uint64_t;
using ContextHandle = struct Context_*;
using ModuleHandle = struct Module_*;
using FunctionHandle = struct Function_*;
using StreamHandle = struct Stream_*;
using EventHandle = struct Event_*;

inline constexpr Status kSuccess = 0;
inline constexpr Status kOutOfMemory = 2;
inline constexpr Status kNoDevice = 100;
inline constexpr Status kNotReady = 600;

inline constexpr int kMaxSharedPerBlock = 8;  // of a function
inline constexpr int kComputeUnits = 16;
inline constexpr int kIntegrated = 18;
inline constexpr int kCanMapHostMemory = 19;
inline constexpr int kPciBus = 33;
inline constexpr int kPciDevice = 34;
inline constexpr int kPciDomain = 50;
inline constexpr int kCapabilityMajor = 75;
inline constexpr int kCapabilityMinor = 76;
inline constexpr int kManagedMemory = 83;
inline constexpr int kPageableMemoryAccess = 88;
inline constexpr int kConcurrentManagedAccess = 89;
inline constexpr int kMaxSharedOptIn = 97;

inline constexpr unsigned kHostAllocMapped = 2;
inline constexpr unsigned kAttachGlobal = 1;
inline constexpr Ordinal kCpu = -1;
inline constexpr unsigned kStreamNonBlocking = 1;

inline constexpr int kJitErrorLog = 5;
inline constexpr int kJitErrorLogBytes = 6;

/// CUDA_MEMCPY2D, where x and y are 0.
struct RowCopy {
    std::size_t from_x = 0, from_y = 0;
    unsigned from_kind = 0;
    const void* from_host = nullptr;
    Address from_device = 0;
    void* from_array = nullptr;
    std::size_t from_pitch = 0;
    std::size_t to_x = 0, to_y = 0;
    unsigned to_kind = 0;
    void* to_host = nullptr;
    Address to_device = 0;
    void* to_array = nullptr;
    std::size_t to_pitch = 0;
    std::size_t row_bytes = 0;
    std::size_t rows = 0;
};
inline constexpr unsigned kHostKind = 1;
inline constexpr unsigned kDeviceKind = 2;

struct Driver {
    explicit Driver(const SharedLibrary& library);

    /// Throws DeviceError naming the call when it failed.
    void check(Status status, const char* call, const std::string& where) const;

    Status (*init)(unsigned);
    Status (*driver_version)(int*);
    Status (*device_count)(int*);
    Status (*device_get)(Ordinal*, int);
    Status (*device_name)(char*, int, Ordinal);
    Status (*device_memory)(std::size_t*, Ordinal);
    Status (*device_attribute)(int*, int, Ordinal);
    Status (*retain_context)(ContextHandle*, Ordinal);
    Status (*release_context)(Ordinal);
    Status (*set_context)(ContextHandle);
    Status (*memory_info)(std::size_t*, std::size_t*);
    Status (*allocate)(Address*, std::size_t);
    Status (*release)(Address);
    Status (*allocate_host)(void**, std::size_t, unsigned);
    Status (*release_host)(void*);
    Status (*host_address)(Address*, void*, unsigned);
    Status (*allocate_managed)(Address*, std::size_t, unsigned);
    Status (*prefetch)(Address, std::size_t, Ordinal, StreamHandle);
    Status (*copy_to_device)(Address, const void*, std::size_t, StreamHandle);
    Status (*copy_rows)(const RowCopy*, StreamHandle);
    Status (*copy_to_host)(void*, Address, std::size_t, StreamHandle);
    Status (*create_stream)(StreamHandle*, unsigned);
    Status (*destroy_stream)(StreamHandle);
    Status (*synchronize_stream)(StreamHandle);
    Status (*create_event)(EventHandle*, unsigned);
    Status (*destroy_event)(EventHandle);
    Status (*record_event)(EventHandle, StreamHandle);
    Status (*query_event)(EventHandle);
    Status (*elapsed_ms)(float*, EventHandle, EventHandle);
    Status (*load_module)(ModuleHandle*, const void*, unsigned, int*, void**);
    Status (*unload_module)(ModuleHandle);
    Status (*find_function)(FunctionHandle*, ModuleHandle, const char*);
    Status (*set_function_attribute)(FunctionHandle, int, int);
    Status (*launch)(FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     StreamHandle, void**, void**);
    Status (*error_name)(Status, const char**);
    Status (*error_text)(Status, const char**);
};

}  // namespace tidemill::device::cuda
