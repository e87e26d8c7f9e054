#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tidemill/gpu/device/internal/shared_library.hpp"

// The used part of OpenCL, declared here so that building needs none of its headers. Names, values and
// signatures are those of its specification.

namespace tidemill::device::opencl {

using Status = std::int32_t;
using Flags = std::uint64_t;
using PlatformHandle = struct Platform_*;
using DeviceHandle = struct Device_*;
using ContextHandle = struct Context_*;
using QueueHandle = struct Queue_*;
using MemoryHandle = struct Memory_*;
using ProgramHandle = struct Program_*;
using KernelHandle = struct Kernel_*;
using EventHandle = struct Event_*;

inline constexpr Status kSuccess = 0;
inline constexpr Status kDeviceNotFound = -1;
inline constexpr Status kOutOfResources = -5;
inline constexpr Status kOutOfDeviceMemory = -4;
inline constexpr Status kTooBigForDevice = -61;  // CL_INVALID_BUFFER_SIZE
inline constexpr Status kBuildFailed = -11;
inline constexpr Status kNoPlatform = -1001;

inline constexpr unsigned kPlatformName = 0x0902;
inline constexpr unsigned kDeviceType = 0x1000;
inline constexpr unsigned kComputeUnits = 0x1002;
inline constexpr unsigned kGlobalBytes = 0x101F;
inline constexpr unsigned kLocalBytes = 0x1023;
inline constexpr unsigned kDeviceName = 0x102B;
inline constexpr unsigned kDriverVersion = 0x102D;
inline constexpr unsigned kDeviceVersion = 0x102F;
inline constexpr unsigned kHostUnifiedMemory = 0x1035;
inline constexpr unsigned kSvmCapabilities = 0x1053;

// Where a device is on its bus: by extensions and makers.
inline constexpr unsigned kPciBusInfo = 0x410F;
inline constexpr unsigned kPciBusNvidia = 0x4008;
inline constexpr unsigned kPciSlotNvidia = 0x4009;
inline constexpr unsigned kPciDomainNvidia = 0x400A;
inline constexpr unsigned kTopologyAmd = 0x4037;

/// cl_device_pci_bus_info_khr.
struct PciBusInfo {
    unsigned domain, bus, device, function;
};

/// cl_device_topology_amd.
struct TopologyAmd {
    unsigned type;  // 1: that of PCI Express
    unsigned char unused[17];
    unsigned char bus, device, function;
};

inline constexpr Flags kAllTypes = 0xFFFFFFFF;
inline constexpr Flags kCpuType = 2;
inline constexpr Flags kGpuType = 4;
inline constexpr Flags kProfiling = 2;
inline constexpr Flags kReadWrite = 1;
inline constexpr Flags kUseHostPointer = 8;
inline constexpr Flags kAllocateOnHost = 16;
inline constexpr Flags kFineGrain = 1U << 10U;
inline constexpr Flags kMapReadWrite = 3;
inline constexpr Flags kSvmCoarse = 1;
inline constexpr Flags kSvmFineBuffer = 2;
inline constexpr Flags kSvmFineSystem = 4;

inline constexpr unsigned kBuildLog = 0x1183;
inline constexpr unsigned kExecutionStatus = 0x11D3;
inline constexpr unsigned kProfilingEnd = 0x1283;
inline constexpr Status kComplete = 0;

struct Driver {
    explicit Driver(const SharedLibrary& library);

    /// Throws DeviceError naming the call when it failed.
    void check(Status status, const char* call, const std::string& where) const;

    Status (*platforms)(unsigned, PlatformHandle*, unsigned*);
    Status (*devices)(PlatformHandle, Flags, unsigned, DeviceHandle*, unsigned*);
    Status (*device_info)(DeviceHandle, unsigned, std::size_t, void*, std::size_t*);
    ContextHandle (*create_context)(const std::intptr_t*, unsigned, const DeviceHandle*,
                                    void (*)(const char*, const void*, std::size_t, void*), void*, Status*);
    Status (*release_context)(ContextHandle);
    QueueHandle (*create_queue)(ContextHandle, DeviceHandle, Flags, Status*);
    Status (*release_queue)(QueueHandle);
    MemoryHandle (*create_buffer)(ContextHandle, Flags, std::size_t, void*, Status*);
    Status (*release_memory)(MemoryHandle);
    Status (*read_buffer)(QueueHandle, MemoryHandle, unsigned, std::size_t, std::size_t, void*, unsigned,
                          const EventHandle*, EventHandle*);
    Status (*write_buffer)(QueueHandle, MemoryHandle, unsigned, std::size_t, std::size_t, const void*,
                           unsigned, const EventHandle*, EventHandle*);
    Status (*write_rows)(QueueHandle, MemoryHandle, unsigned, const std::size_t*, const std::size_t*,
                         const std::size_t*, std::size_t, std::size_t, std::size_t, std::size_t, const void*,
                         unsigned, const EventHandle*, EventHandle*);
    void* (*map_buffer)(QueueHandle, MemoryHandle, unsigned, Flags, std::size_t, std::size_t, unsigned,
                        const EventHandle*, EventHandle*, Status*);
    Status (*unmap)(QueueHandle, MemoryHandle, void*, unsigned, const EventHandle*, EventHandle*);
    ProgramHandle (*create_program)(ContextHandle, unsigned, const char**, const std::size_t*, Status*);
    Status (*build_program)(ProgramHandle, unsigned, const DeviceHandle*, const char*,
                            void (*)(ProgramHandle, void*), void*);
    Status (*build_info)(ProgramHandle, DeviceHandle, unsigned, std::size_t, void*, std::size_t*);
    Status (*release_program)(ProgramHandle);
    KernelHandle (*create_kernel)(ProgramHandle, const char*, Status*);
    Status (*release_kernel)(KernelHandle);
    Status (*set_argument)(KernelHandle, unsigned, std::size_t, const void*);
    Status (*launch)(QueueHandle, KernelHandle, unsigned, const std::size_t*, const std::size_t*,
                     const std::size_t*, unsigned, const EventHandle*, EventHandle*);
    Status (*mark)(QueueHandle, unsigned, const EventHandle*, EventHandle*);
    Status (*flush)(QueueHandle);
    Status (*finish)(QueueHandle);
    Status (*event_info)(EventHandle, unsigned, std::size_t, void*, std::size_t*);
    Status (*profiling_info)(EventHandle, unsigned, std::size_t, void*, std::size_t*);
    Status (*release_event)(EventHandle);

    // Functions of OpenCL 2.0: null pointers where the loader is older.
    void* (*svm_allocate)(ContextHandle, Flags, std::size_t, unsigned);
    void (*svm_release)(ContextHandle, void*);
    Status (*svm_map)(QueueHandle, unsigned, Flags, void*, std::size_t, unsigned, const EventHandle*,
                      EventHandle*);
    Status (*svm_unmap)(QueueHandle, void*, unsigned, const EventHandle*, EventHandle*);
    Status (*set_svm_argument)(KernelHandle, unsigned, const void*);

    bool has_svm() const;
};

}  // namespace tidemill::device::opencl
