// A driver library: the loader libOpenCL.so.1, which knows the installed drivers, or one driver
// that has OpenCL's functions itself.
#ifndef DL_OPENCL_RUNTIME_DRIVER_H_
#define DL_OPENCL_RUNTIME_DRIVER_H_

#include <memory>
#include <string>
#include <vector>

#include "dl/kit/symbols.h"
#include "runtime/cl.h"

namespace dl::opencl {

// Functions with OpenCL's names, without "cl", opened on first use.
struct Driver : kit::Library {
  explicit Driver(std::string path);

#define DL_OPENCL_FUNCTION(name, result, ...) \
  kit::Symbol<result (*)(__VA_ARGS__)> name{*this, "cl" #name}

  DL_OPENCL_FUNCTION(GetPlatformIDs, cl::Int, cl::UInt, cl::Platform*, cl::UInt*);
  DL_OPENCL_FUNCTION(GetPlatformInfo, cl::Int, cl::Platform, cl::UInt, size_t, void*, size_t*);
  DL_OPENCL_FUNCTION(GetDeviceIDs, cl::Int, cl::Platform, cl::Bits, cl::UInt, cl::DeviceId*,
                     cl::UInt*);
  DL_OPENCL_FUNCTION(GetDeviceInfo, cl::Int, cl::DeviceId, cl::UInt, size_t, void*, size_t*);
  DL_OPENCL_FUNCTION(GetExtensionFunctionAddressForPlatform, void*, cl::Platform, const char*);
  DL_OPENCL_FUNCTION(CreateContext, cl::Context, const cl::Property*, cl::UInt, const cl::DeviceId*,
                     void (*)(const char*, const void*, size_t, void*), void*, cl::Int*);

  DL_OPENCL_FUNCTION(CreateCommandQueueWithProperties, cl::CommandQueue, cl::Context, cl::DeviceId,
                     const cl::Bits*, cl::Int*);
  DL_OPENCL_FUNCTION(ReleaseCommandQueue, cl::Int, cl::CommandQueue);
  DL_OPENCL_FUNCTION(Flush, cl::Int, cl::CommandQueue);
  DL_OPENCL_FUNCTION(Finish, cl::Int, cl::CommandQueue);
  DL_OPENCL_FUNCTION(EnqueueMarkerWithWaitList, cl::Int, cl::CommandQueue, cl::UInt,
                     const cl::EventObject*, cl::EventObject*);
  DL_OPENCL_FUNCTION(EnqueueBarrierWithWaitList, cl::Int, cl::CommandQueue, cl::UInt,
                     const cl::EventObject*, cl::EventObject*);

  DL_OPENCL_FUNCTION(WaitForEvents, cl::Int, cl::UInt, const cl::EventObject*);
  DL_OPENCL_FUNCTION(GetEventInfo, cl::Int, cl::EventObject, cl::UInt, size_t, void*, size_t*);
  DL_OPENCL_FUNCTION(GetEventProfilingInfo, cl::Int, cl::EventObject, cl::UInt, size_t, void*,
                     size_t*);
  DL_OPENCL_FUNCTION(RetainEvent, cl::Int, cl::EventObject);
  DL_OPENCL_FUNCTION(ReleaseEvent, cl::Int, cl::EventObject);

  DL_OPENCL_FUNCTION(SVMAlloc, void*, cl::Context, cl::Bits, size_t, cl::UInt);
  DL_OPENCL_FUNCTION(SVMFree, void, cl::Context, void*);
  DL_OPENCL_FUNCTION(EnqueueSVMMemcpy, cl::Int, cl::CommandQueue, cl::UInt, void*, const void*,
                     size_t, cl::UInt, const cl::EventObject*, cl::EventObject*);
  DL_OPENCL_FUNCTION(EnqueueSVMMemFill, cl::Int, cl::CommandQueue, void*, const void*, size_t,
                     size_t, cl::UInt, const cl::EventObject*, cl::EventObject*);

  DL_OPENCL_FUNCTION(CreateProgramWithIL, cl::Program, cl::Context, const void*, size_t, cl::Int*);
  DL_OPENCL_FUNCTION(CreateProgramWithSource, cl::Program, cl::Context, cl::UInt, const char**,
                     const size_t*, cl::Int*);
  DL_OPENCL_FUNCTION(CreateProgramWithBinary, cl::Program, cl::Context, cl::UInt,
                     const cl::DeviceId*, const size_t*, const unsigned char**, cl::Int*, cl::Int*);
  DL_OPENCL_FUNCTION(BuildProgram, cl::Int, cl::Program, cl::UInt, const cl::DeviceId*, const char*,
                     void (*)(cl::Program, void*), void*);
  DL_OPENCL_FUNCTION(CompileProgram, cl::Int, cl::Program, cl::UInt, const cl::DeviceId*,
                     const char*, cl::UInt, const cl::Program*, const char**,
                     void (*)(cl::Program, void*), void*);
  DL_OPENCL_FUNCTION(LinkProgram, cl::Program, cl::Context, cl::UInt, const cl::DeviceId*,
                     const char*, cl::UInt, const cl::Program*, void (*)(cl::Program, void*), void*,
                     cl::Int*);
  DL_OPENCL_FUNCTION(GetProgramInfo, cl::Int, cl::Program, cl::UInt, size_t, void*, size_t*);
  DL_OPENCL_FUNCTION(GetProgramBuildInfo, cl::Int, cl::Program, cl::DeviceId, cl::UInt, size_t,
                     void*, size_t*);
  DL_OPENCL_FUNCTION(ReleaseProgram, cl::Int, cl::Program);

  DL_OPENCL_FUNCTION(CreateKernel, cl::KernelObject, cl::Program, const char*, cl::Int*);
  DL_OPENCL_FUNCTION(ReleaseKernel, cl::Int, cl::KernelObject);
  DL_OPENCL_FUNCTION(GetKernelInfo, cl::Int, cl::KernelObject, cl::UInt, size_t, void*, size_t*);
  DL_OPENCL_FUNCTION(GetKernelWorkGroupInfo, cl::Int, cl::KernelObject, cl::DeviceId, cl::UInt,
                     size_t, void*, size_t*);
  DL_OPENCL_FUNCTION(SetKernelArg, cl::Int, cl::KernelObject, cl::UInt, size_t, const void*);
  DL_OPENCL_FUNCTION(SetKernelArgSVMPointer, cl::Int, cl::KernelObject, cl::UInt, const void*);
  DL_OPENCL_FUNCTION(SetKernelExecInfo, cl::Int, cl::KernelObject, cl::UInt, size_t, const void*);
  DL_OPENCL_FUNCTION(EnqueueNDRangeKernel, cl::Int, cl::CommandQueue, cl::KernelObject, cl::UInt,
                     const size_t*, const size_t*, const size_t*, cl::UInt, const cl::EventObject*,
                     cl::EventObject*);
#undef DL_OPENCL_FUNCTION
};

// The drivers of this process: those that DL_OPENCL_DRIVER names, or libOpenCL.so.1 and Intel's CPU
// runtime if its wheel is installed next to this one. Nothing is opened. Throws kit::Error for an
// invalid variable.
const std::vector<std::unique_ptr<Driver>>& drivers();

// Returns why there is no driver, with the remedy, without opening one; empty if there seems to be
// one.
std::string absence();

}  // namespace dl::opencl

#endif  // DL_OPENCL_RUNTIME_DRIVER_H_
