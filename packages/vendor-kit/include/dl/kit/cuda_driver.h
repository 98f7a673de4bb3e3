// The functions of NVIDIA's driver, libcuda.so.1, that a vendor without the CUDA runtime needs,
// with the signatures of cuda.h (tests compare the two). Compiling against them does not need the
// CUDA toolkit.
//
//   dl::kit::CudaDriver driver({"libcuda.so.1"});
//   driver.init(0);
#ifndef DL_KIT_CUDA_DRIVER_H_
#define DL_KIT_CUDA_DRIVER_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "dl/kit/base.h"
#include "dl/kit/captures.h"
#include "dl/kit/symbols.h"
#include "dl/status.h"

DL_KIT_BEGIN

namespace cuda {

using Code = int;                    // CUresult
using Device = int;                  // CUdevice
using Attribute = int;               // CUdevice_attribute
using Address = unsigned long long;  // CUdeviceptr
using Context = struct ContextObject*;
using Stream = struct StreamObject*;
using Event = struct EventObject*;
using Module = struct ModuleObject*;  // CUlibrary
using Kernel = struct KernelObject*;  // CUkernel or CUfunction
using Image = struct ImageObject*;    // CUmodule
using Graph = struct GraphObject*;
using GraphNode = struct GraphNodeObject*;
using Executable = struct ExecutableObject*;  // CUgraphExec

// CUipcMemHandle.
struct IpcHandle {
  char bytes[64];
};

// Values of CUresult.
enum : Code {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kStubLibrary = 34,
  kNoDevice = 100,
  kNoBinaryForGpu = 209,
  kUnsupportedPtxVersion = 222,
  kInvalidPtx = 218,
  kPeerUnsupported = 217,
  kNotFound = 500,
  kNotReady = 600,
  kPeerEnabled = 704,
  kPeerNotEnabled = 705,
};

// Values of CUdevice_attribute.
enum : Attribute {
  kWarpSize = 10,
  kMaxBlockThreads = 1,
  kMaxBlockX = 2,  // Y and Z follow
  kMaxGridX = 5,
  kMultiprocessorCount = 16,
  kMaxSharedBytes = 97,  // per block, if the kernel opts in
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
};

// Values of CUfunction_attribute.
enum : int {
  kFunctionBlockThreads = 0,
  kFunctionSharedBytes = 1,
  kFunctionConstantBytes = 2,
  kFunctionLocalBytes = 3,
  kFunctionRegisters = 4,
  kFunctionPtxVersion = 5,
  kFunctionBinaryVersion = 6,
  kFunctionMaxDynamicShared = 8,
};

// The first members of the CUDA runtime's cudaFuncAttributes.
struct FunctionAttributes {
  size_t shared, constant, local;
  int threads, registers, ptx_version, binary_version;
};

// Values of CUjit_option.
enum : int { kJitErrorLog = 5, kJitErrorLogBytes = 6 };

// CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS.
constexpr unsigned kIpcLazyPeerAccess = 1;

using ::dl::kit::kCaptureRelaxed;
using ::dl::kit::kCaptureUnsupported;
using ::dl::kit::kCaptureWrongThread;

// Returns true if the process has lost the device: every later call fails with the same error.
constexpr bool is_sticky(Code code) {
  constexpr Code kIllegalAddress = 700, kLaunchTimeout = 702, kAssert = 710, kStackError = 714,
                 kLaunchFailed = 719;
  return code == kIllegalAddress || code == kLaunchTimeout || code == kAssert ||
         (code >= kStackError && code <= kLaunchFailed);
}

// The remedy for an error, as the end of a sentence; empty if unknown.
inline const char* remedy(Code code) {
  if (is_sticky(code))
    return "; this kernel or an earlier one failed, and the process must be restarted "
           "(CUDA_LAUNCH_BLOCKING=1 shows which one)";
  if (code == kNoBinaryForGpu)
    return "; this library has no code for the device: install a build that does";
  if (code == kUnsupportedPtxVersion)
    return "; the driver is older than the compiler of this library: install a later driver, or a "
           "build with machine code for the device";
  return capture_remedy(code);
}

inline Address address_of(const void* memory) { return reinterpret_cast<Address>(memory); }

}  // namespace cuda

// X(member name, symbol, type)
// clang-format off
#define DL_KIT_CUDA_DRIVER_FUNCTIONS(X)                                                            \
  X(init, cuInit, Code (*)(unsigned))                                                              \
  X(driver_version, cuDriverGetVersion, Code (*)(int*))                                            \
  X(error_name, cuGetErrorName, Code (*)(Code, const char**))                                      \
  X(error_string, cuGetErrorString, Code (*)(Code, const char**))                                  \
  X(device_count, cuDeviceGetCount, Code (*)(int*))                                                \
  X(device_get, cuDeviceGet, Code (*)(Device*, int))                                               \
  X(device_name, cuDeviceGetName, Code (*)(char*, int, Device))                                    \
  X(device_total_memory, cuDeviceTotalMem_v2, Code (*)(size_t*, Device))                           \
  X(device_attribute, cuDeviceGetAttribute, Code (*)(int*, Attribute, Device))                     \
  X(primary_context_retain, cuDevicePrimaryCtxRetain, Code (*)(Context*, Device))                  \
  X(context_current, cuCtxGetCurrent, Code (*)(Context*))                                          \
  X(context_set, cuCtxSetCurrent, Code (*)(Context))                                               \
  X(context_device, cuCtxGetDevice, Code (*)(Device*))                                             \
  X(context_synchronize, cuCtxSynchronize, Code (*)())                                             \
  X(memory_info, cuMemGetInfo_v2, Code (*)(size_t*, size_t*))                                      \
  X(memory_allocate, cuMemAlloc_v2, Code (*)(Address*, size_t))                                    \
  X(memory_free, cuMemFree_v2, Code (*)(Address))                                                  \
  X(host_allocate, cuMemHostAlloc, Code (*)(void**, size_t, unsigned))                             \
  X(host_free, cuMemFreeHost, Code (*)(void*))                                                     \
  X(copy_to_device, cuMemcpyHtoDAsync_v2, Code (*)(Address, const void*, size_t, Stream))          \
  X(copy_to_host, cuMemcpyDtoHAsync_v2, Code (*)(void*, Address, size_t, Stream))                  \
  X(copy_on_device, cuMemcpyDtoDAsync_v2, Code (*)(Address, Address, size_t, Stream))              \
  X(set_bytes, cuMemsetD8Async, Code (*)(Address, unsigned char, size_t, Stream))                  \
  X(stream_create, cuStreamCreateWithPriority, Code (*)(Stream*, unsigned, int))                   \
  X(stream_destroy, cuStreamDestroy_v2, Code (*)(Stream))                                          \
  X(stream_synchronize, cuStreamSynchronize, Code (*)(Stream))                                     \
  X(stream_query, cuStreamQuery, Code (*)(Stream))                                                 \
  X(stream_wait_event, cuStreamWaitEvent, Code (*)(Stream, Event, unsigned))                       \
  X(event_create, cuEventCreate, Code (*)(Event*, unsigned))                                       \
  X(event_destroy, cuEventDestroy_v2, Code (*)(Event))                                             \
  X(event_record, cuEventRecord, Code (*)(Event, Stream))                                          \
  X(event_synchronize, cuEventSynchronize, Code (*)(Event))                                        \
  X(event_query, cuEventQuery, Code (*)(Event))                                                    \
  X(event_elapsed, cuEventElapsedTime, Code (*)(float*, Event, Event))                             \
  X(module_load, cuLibraryLoadData,                                                                \
    Code (*)(Module*, const void*, int*, void**, unsigned, int*, void**, unsigned))                \
  X(module_unload, cuLibraryUnload, Code (*)(Module))                                              \
  X(module_kernel, cuLibraryGetKernel, Code (*)(Kernel*, Module, const char*))                     \
  X(kernel_attribute, cuKernelGetAttribute, Code (*)(int*, int, Kernel, Device))                   \
  X(launch, cuLaunchKernel,                                                                        \
    Code (*)(Kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, \
             void**, void**))

// Functions called by extensions of the contract. A driver that lacks such a function still supports
// everything else.
#define DL_KIT_CUDA_EXTENSION_FUNCTIONS(X)                                                         \
  X(capture_begin, cuStreamBeginCapture_v2, Code (*)(Stream, int))                                 \
  X(capture_end, cuStreamEndCapture, Code (*)(Stream, Graph*))                                     \
  X(capture_status, cuStreamIsCapturing, Code (*)(Stream, int*))                                   \
  X(graph_nodes, cuGraphGetNodes, Code (*)(Graph, GraphNode*, size_t*))                            \
  X(graph_instantiate, cuGraphInstantiateWithFlags, Code (*)(Executable*, Graph, Address))         \
  X(graph_launch, cuGraphLaunch, Code (*)(Executable, Stream))                                     \
  X(graph_destroy, cuGraphDestroy, Code (*)(Graph))                                                \
  X(executable_destroy, cuGraphExecDestroy, Code (*)(Executable))                                  \
  X(can_access, cuDeviceCanAccessPeer, Code (*)(int*, Device, Device))                             \
  X(enable_access, cuCtxEnablePeerAccess, Code (*)(Context, unsigned))                             \
  X(disable_access, cuCtxDisablePeerAccess, Code (*)(Context))                                     \
  X(copy_to_peer, cuMemcpyPeerAsync,                                                               \
    Code (*)(Address, Context, Address, Context, size_t, Stream))                                  \
  X(memory_range, cuMemGetAddressRange_v2, Code (*)(Address*, size_t*, Address))                   \
  X(ipc_export, cuIpcGetMemHandle, Code (*)(IpcHandle*, Address))                                  \
  X(ipc_open, cuIpcOpenMemHandle_v2, Code (*)(Address*, IpcHandle, unsigned))                      \
  X(ipc_close, cuIpcCloseMemHandle, Code (*)(Address))                                             \
  X(image_load, cuModuleLoadDataEx, Code (*)(Image*, const void*, unsigned, int*, void**))         \
  X(image_unload, cuModuleUnload, Code (*)(Image))                                                 \
  X(image_function, cuModuleGetFunction, Code (*)(Kernel*, Image, const char*))                    \
  X(function_attribute, cuFuncGetAttribute, Code (*)(int*, int, Kernel))                           \
  X(function_set, cuFuncSetAttribute, Code (*)(Kernel, int, int))                                  \
  X(function_parameter, cuFuncGetParamInfo, Code (*)(Kernel, size_t, size_t*, size_t*))
// clang-format on

class CudaDriver : public Library {
 public:
  using Code = cuda::Code;
  using Device = cuda::Device;
  using Attribute = cuda::Attribute;
  using Address = cuda::Address;
  using Context = cuda::Context;
  using Stream = cuda::Stream;
  using Event = cuda::Event;
  using Module = cuda::Module;
  using Kernel = cuda::Kernel;
  using Image = cuda::Image;
  using Graph = cuda::Graph;
  using GraphNode = cuda::GraphNode;
  using Executable = cuda::Executable;
  using IpcHandle = cuda::IpcHandle;

  explicit CudaDriver(std::vector<std::string> names) : Library(std::move(names)) {}

#define DL_KIT_CUDA_DRIVER_MEMBER(member, symbol, ...) Symbol<__VA_ARGS__> member{*this, #symbol};
  DL_KIT_CUDA_DRIVER_FUNCTIONS(DL_KIT_CUDA_DRIVER_MEMBER)
  DL_KIT_CUDA_EXTENSION_FUNCTIONS(DL_KIT_CUDA_DRIVER_MEMBER)
#undef DL_KIT_CUDA_DRIVER_MEMBER

  // Returns the name of the first missing function, or null. A driver older than any supported one
  // lacks some. Opens the driver.
  const char* missing() {
#define DL_KIT_CUDA_DRIVER_CHECK(member, symbol, ...) \
  if (!member.available()) return member.name();
    DL_KIT_CUDA_DRIVER_FUNCTIONS(DL_KIT_CUDA_DRIVER_CHECK)
#undef DL_KIT_CUDA_DRIVER_CHECK
    return nullptr;
  }

  // "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".
  std::string describe(Code code) {
    const char *name = nullptr, *text = nullptr;
    try {
      (void)error_name(code, &name);
      (void)error_string(code, &text);
    } catch (const Error&) {
      // No driver is available to ask for the name.
    }
    std::string message = name == nullptr ? "error" : name;
    message += " (" + std::to_string(code) + ")";
    return text == nullptr ? message : message + ": " + text;
  }
};

// Maps a driver error to a code of the contract.
inline dl_code_t cuda_driver_code(cuda::Code code) {
  if (is_capture_error(code)) return DL_INVALID_ARGUMENT;
  switch (code) {
    case cuda::kSuccess:
      return DL_OK;
    case cuda::kOutOfMemory:
      return DL_OUT_OF_MEMORY;
    case cuda::kNotReady:
      return DL_NOT_READY;
    case cuda::kNoDevice:
    case cuda::kStubLibrary:  // the toolkit's stub library, which can only be linked
      return DL_UNAVAILABLE;
    default:
      return DL_ERROR;
  }
}

DL_KIT_END

#endif  // DL_KIT_CUDA_DRIVER_H_
