// The part of the OpenCL 2.1 interface that this vendor uses, so that a build needs no headers of
// OpenCL. Names and numbers follow the Khronos specification (OpenCL API 3.0, appendix of
// the unified headers).
#ifndef DL_OPENCL_RUNTIME_CL_H_
#define DL_OPENCL_RUNTIME_CL_H_

#include <cstddef>
#include <cstdint>

namespace dl::opencl::cl {

using Int = int32_t;
using UInt = uint32_t;
using Bits = uint64_t;
using Property = intptr_t;

using Platform = struct PlatformObject*;
using DeviceId = struct DeviceObject*;
using Context = struct ContextObject*;
using CommandQueue = struct QueueObject*;
using Program = struct ProgramObject*;
using KernelObject = struct KernelHandle*;
using EventObject = struct EventHandle*;

constexpr UInt kTrue = 1, kFalse = 0;

// Result codes.
enum : Int {
  kSuccess = 0,
  kDeviceNotFound = -1,
  kDeviceNotAvailable = -2,
  kMemoryAllocationFailure = -4,
  kOutOfResources = -5,
  kOutOfHostMemory = -6,
  kProfilingInfoNotAvailable = -7,
  kBuildProgramFailure = -11,
  kInvalidBufferSize = -61,
  kInvalidKernelName = -46,
  kPlatformNotFound = -1001,
  // Not an OpenCL code: the result of a query of unfinished work.
  kNotReady = 1,
};

enum : UInt {
  kPlatformName = 0x0902,
  kPlatformVersion = 0x0901,

  kDeviceType = 0x1000,
  kDeviceMaxComputeUnits = 0x1002,
  kDeviceMaxWorkGroupSize = 0x1004,
  kDeviceMaxWorkItemSizes = 0x1005,
  kDeviceMaxAllocation = 0x1010,
  kDeviceAddressBits = 0x100D,
  kDeviceMaxParameterSize = 0x1017,
  kDeviceGlobalMemory = 0x101F,
  kDeviceLocalMemory = 0x1023,
  kDeviceAvailable = 0x1027,
  kDeviceCompilerAvailable = 0x1028,
  kDeviceName = 0x102B,
  kDriverVersion = 0x102D,
  kDeviceVersion = 0x102F,
  kDeviceExtensions = 0x1030,
  kDeviceDoubleConfig = 0x1032,
  kDeviceSvmCapabilities = 0x1053,
  kDeviceIlVersion = 0x105B,
  kDeviceUsmDeviceCapabilities = 0x4191,
  kDeviceSubGroupSizes = 0x4108,

  kQueueProperties = 0x1093,
  kQueuePriority = 0x1096,

  kProgramBinarySizes = 0x1165,
  kProgramBinaries = 0x1166,
  kProgramBuildLog = 0x1183,

  kKernelArgumentCount = 0x1191,
  kKernelWorkGroupSize = 0x11B0,
  kKernelLocalMemory = 0x11B2,
  kKernelPrivateMemory = 0x11B4,
  kKernelSvmPointers = 0x11B6,
  kKernelIndirectDeviceAccess = 0x4201,

  kEventStatus = 0x11D3,
  kProfilingEnd = 0x1283,
};

enum : Bits {
  kTypeCpu = 1u << 1,
  kTypeGpu = 1u << 2,
  kTypeAccelerator = 1u << 3,
  kTypeAll = 0xFFFFFFFFu,

  kProfilingEnabled = 1u << 1,
  kReadWrite = 1u << 0,

  kPriorityHigh = 1u << 0,
  kPriorityMedium = 1u << 1,
};

constexpr Int kComplete = 0;  // an event's status; negative ones are errors

// Returns "CL_OUT_OF_RESOURCES", or "" for a code that the specification does not have.
const char* name_of(Int code);

}  // namespace dl::opencl::cl

#endif  // DL_OPENCL_RUNTIME_CL_H_
