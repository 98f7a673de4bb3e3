// The functions of OpenCL that this vendor calls. They are declared here, so that a build needs no
// headers of OpenCL, and looked up in the driver on first use, so that the wheel can be installed
// on a machine without one. Numbers are those of the OpenCL specification.
#ifndef OPENCL_H_
#define OPENCL_H_

#include <cstddef>
#include <cstdint>

#include "dl/kit/named_driver.h"
#include "dl/kit/symbols.h"

namespace __chip__ {

using Platform = struct PlatformObject*;
using DeviceId = struct DeviceObject*;
using Context = struct ContextObject*;
using Queue = struct QueueObject*;
using EventId = struct EventObject*;
using Program = struct ProgramObject*;
using Kernel = struct KernelObject*;

constexpr int32_t kSuccess = 0, kComplete = 0, kOutOfHostMemory = -6, kNoPlatform = -1001;
constexpr uint32_t kDeviceName = 0x102B, kDeviceMemory = 0x101F, kDeviceSvm = 0x1053;
constexpr uint32_t kEventStatus = 0x11D3, kTimeOfEnd = 0x1283, kBuildLog = 0x1183;
constexpr uint32_t kKernelSvmPointers = 0x11B6;
constexpr uint64_t kAllDevices = 0xFFFFFFFF, kReadWrite = 1;
constexpr uint64_t kTimedQueue[] = {0x1093, 2, 0};  // CL_QUEUE_PROPERTIES: profiling

struct Driver : dl::kit::Library {
  // DL_OPENCL_DRIVER names another driver. Replace the names by your driver's name.
  Driver()
      : Library(dl::kit::NamedDriver("DL_OPENCL_DRIVER")
                    .or_else({"libOpenCL.so.1",
                              // Intel's runtime for CPUs, whose wheel the extra "test" installs.
                              dl::kit::own_folder() + "/../../../../libintelocl.so"}),
                "OpenCL driver", "install the device's driver") {}

#define FUNCTION(name, result, ...) dl::kit::Symbol<result (*)(__VA_ARGS__)> name{*this, "cl" #name}
  FUNCTION(GetPlatformIDs, int32_t, uint32_t, Platform*, uint32_t*);
  FUNCTION(GetDeviceIDs, int32_t, Platform, uint64_t, uint32_t, DeviceId*, uint32_t*);
  FUNCTION(GetDeviceInfo, int32_t, DeviceId, uint32_t, size_t, void*, size_t*);
  FUNCTION(CreateContext, Context, const intptr_t*, uint32_t, const DeviceId*, void*, void*,
           int32_t*);
  FUNCTION(ReleaseContext, int32_t, Context);

  FUNCTION(SVMAlloc, void*, Context, uint64_t, size_t, uint32_t);
  FUNCTION(SVMFree, void, Context, void*);
  FUNCTION(EnqueueSVMMemcpy, int32_t, Queue, uint32_t, void*, const void*, size_t, uint32_t,
           const EventId*, EventId*);
  FUNCTION(EnqueueSVMMemFill, int32_t, Queue, void*, const void*, size_t, size_t, uint32_t,
           const EventId*, EventId*);

  FUNCTION(CreateCommandQueueWithProperties, Queue, Context, DeviceId, const uint64_t*, int32_t*);
  FUNCTION(ReleaseCommandQueue, int32_t, Queue);
  FUNCTION(Flush, int32_t, Queue);
  FUNCTION(Finish, int32_t, Queue);
  FUNCTION(EnqueueMarkerWithWaitList, int32_t, Queue, uint32_t, const EventId*, EventId*);
  FUNCTION(EnqueueBarrierWithWaitList, int32_t, Queue, uint32_t, const EventId*, EventId*);
  FUNCTION(WaitForEvents, int32_t, uint32_t, const EventId*);
  FUNCTION(GetEventInfo, int32_t, EventId, uint32_t, size_t, void*, size_t*);
  FUNCTION(GetEventProfilingInfo, int32_t, EventId, uint32_t, size_t, void*, size_t*);
  FUNCTION(ReleaseEvent, int32_t, EventId);

  FUNCTION(CreateProgramWithSource, Program, Context, uint32_t, const char**, const size_t*,
           int32_t*);
  FUNCTION(BuildProgram, int32_t, Program, uint32_t, const DeviceId*, const char*, void*, void*);
  FUNCTION(GetProgramBuildInfo, int32_t, Program, DeviceId, uint32_t, size_t, void*, size_t*);
  FUNCTION(ReleaseProgram, int32_t, Program);
  FUNCTION(CreateKernel, Kernel, Program, const char*, int32_t*);
  FUNCTION(SetKernelArg, int32_t, Kernel, uint32_t, size_t, const void*);
  FUNCTION(SetKernelExecInfo, int32_t, Kernel, uint32_t, size_t, const void*);
  FUNCTION(EnqueueNDRangeKernel, int32_t, Queue, Kernel, uint32_t, const size_t*, const size_t*,
           const size_t*, uint32_t, const EventId*, EventId*);
  FUNCTION(ReleaseKernel, int32_t, Kernel);
#undef FUNCTION
};

}  // namespace __chip__

#endif  // OPENCL_H_
