// Driver API: initialisation, devices and contexts.

#include <cstdio>
#include <cstring>

#include "state.h"

using namespace sim;

namespace {

CUresult known(CUdevice device) {
  return device >= 0 && device < static_cast<int>(Driver::get().devices.size())
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_DEVICE;
}

bool is_context(CUcontext context) {
  Driver& driver = Driver::get();
  const std::lock_guard<std::mutex> lock(driver.mutex);
  return driver.contexts.count(context) != 0;
}

int attribute(CUdevice_attribute which, CUdevice device) {
  switch (static_cast<int>(which)) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
      return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
      return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return 49152;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return kMostShared;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return 167936;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
      return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return 1000000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return 256;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
      return 512;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return 4;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return 4 << 20;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return 2048;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      return 32;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
      return 2;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return Settings::get().capability_of(device) / 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return Settings::get().capability_of(device) % 10;
    case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
      return 1;
    // Attributes that the simulator lacks.
    default:
      return 0;
  }
}

}  // namespace

DL_EXPORT CUresult CUDAAPI cuInit(unsigned int flags) {
  DL_COUNTED("cuInit");
  if (!Settings::get().problems.empty()) {
    std::fprintf(stderr, "dl-gpu-sim: %s\n", Settings::get().problem().c_str());
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (const CUresult failed = Journal::get().call(counted_name)) return failed;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (Settings::get().visible.empty()) return CUDA_ERROR_NO_DEVICE;
  Driver::get().initialised = true;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuDriverGetVersion(int* version) {
  DL_COUNTED("cuDriverGetVersion");
  if (const CUresult failed = Journal::get().call(counted_name)) return failed;
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = Settings::get().version;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuDeviceGetCount(int* count) {
  DL_ENTER_ANY("cuDeviceGetCount");
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<int>(Driver::get().devices.size());
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuDeviceGet(CUdevice* device, int ordinal) {
  DL_ENTER_ANY("cuDeviceGet");
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *device = ordinal;
  return known(ordinal);
}

DL_EXPORT CUresult CUDAAPI cuDeviceGetName(char* name, int length, CUdevice device) {
  DL_ENTER_ANY("cuDeviceGetName");
  if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  std::snprintf(name, static_cast<size_t>(length), "dl-gpu-sim");
  return known(device);
}

DL_EXPORT CUresult CUDAAPI cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  DL_ENTER_ANY("cuDeviceGetUuid");
  if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult failed = known(device)) return failed;
  const auto bytes = uuid_of(Settings::get().number_of(device));
  std::memcpy(uuid->bytes, bytes.data(), bytes.size());
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  DL_ENTER_ANY("cuDeviceTotalMem");
  if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *bytes = Settings::get().memory;
  return known(device);
}

DL_EXPORT CUresult CUDAAPI cuDeviceGetAttribute(int* value, CUdevice_attribute which,
                                                CUdevice device) {
  DL_ENTER_ANY("cuDeviceGetAttribute");
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult failed = known(device)) return failed;
  *value = which == CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID ? Settings::get().number_of(device)
                                                      : attribute(which, device);
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  DL_ENTER_ANY("cuDeviceComputeCapability");
  if (major == nullptr || minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult failed = known(device)) return failed;
  *major = Settings::get().capability_of(device) / 10;
  *minor = Settings::get().capability_of(device) % 10;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  DL_ENTER_ANY("cuDeviceGetPCIBusId");
  if (text == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult failed = known(device)) return failed;
  std::snprintf(text, static_cast<size_t>(length), "0000:00:%02x.0",
                static_cast<unsigned>(Settings::get().number_of(device)));
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  DL_ENTER_ANY("cuDevicePrimaryCtxRetain");
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult failed = known(device)) return failed;
  *context = &Driver::get().device(device).primary;
  ++(*context)->references;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  DL_ENTER_ANY("cuDevicePrimaryCtxRelease");
  if (const CUresult failed = known(device)) return failed;
  std::atomic<int>& references = Driver::get().device(device).primary.references;
  if (references == 0) return CUDA_ERROR_INVALID_CONTEXT;
  --references;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuDevicePrimaryCtxReset_v2(CUdevice device) {
  DL_ENTER_ANY("cuDevicePrimaryCtxReset");
  if (const CUresult failed = known(device)) return failed;
  CUctx_st& context = Driver::get().device(device).primary;
  wait_for_all(&context);
  context.failed = CUDA_SUCCESS;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags) {
  DL_ENTER_ANY("cuDevicePrimaryCtxSetFlags");
  if (const CUresult failed = known(device)) return failed;
  Driver::get().device(device).primary.flags = flags;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags,
                                                      int* active) {
  DL_ENTER_ANY("cuDevicePrimaryCtxGetState");
  if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult failed = known(device)) return failed;
  const CUctx_st& context = Driver::get().device(device).primary;
  *flags = context.flags;
  *active = context.references > 0;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuCtxSetCurrent(CUcontext context) {
  DL_ENTER_ANY("cuCtxSetCurrent");
  if (context != nullptr && !is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
  auto& stack = context_stack();
  if (!stack.empty()) stack.pop_back();
  if (context != nullptr) stack.push_back(context);
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuCtxGetCurrent(CUcontext* context) {
  DL_ENTER_ANY("cuCtxGetCurrent");
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *context = current_context();
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuCtxPushCurrent_v2(CUcontext context) {
  DL_ENTER_ANY("cuCtxPushCurrent");
  if (!is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
  context_stack().push_back(context);
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuCtxPopCurrent_v2(CUcontext* context) {
  DL_ENTER_ANY("cuCtxPopCurrent");
  auto& stack = context_stack();
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context != nullptr) *context = stack.back();
  stack.pop_back();
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuCtxGetDevice(CUdevice* device) {
  DL_ENTER_ANY("cuCtxGetDevice");
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *device = current_context()->device;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuCtxGetFlags(unsigned int* flags) {
  DL_ENTER("cuCtxGetFlags");
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = current_context()->flags;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuCtxGetApiVersion(CUcontext, unsigned int* version) {
  DL_ENTER_ANY("cuCtxGetApiVersion");
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = static_cast<unsigned int>(Settings::get().version);
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuCtxSynchronize(void) {
  DL_ENTER("cuCtxSynchronize");
  return wait_for_all(current_context());
}

DL_EXPORT CUresult CUDAAPI cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  DL_ENTER("cuCtxGetStreamPriorityRange");
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuCtxGetLimit(size_t* value, CUlimit) {
  DL_ENTER("cuCtxGetLimit");
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *value = 1 << 20;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuCtxSetLimit(CUlimit, size_t) {
  DL_ENTER("cuCtxSetLimit");
  return CUDA_SUCCESS;
}
