// Driver API: launches, function attributes, occupancy.

#include <algorithm>

#include "launching.h"

using namespace sim;

namespace {

CUlaunchConfig config_of(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                         unsigned bz, unsigned shared, CUstream stream) {
  CUlaunchConfig made{};
  made.gridDimX = gx;
  made.gridDimY = gy;
  made.gridDimZ = gz;
  made.blockDimX = bx;
  made.blockDimY = by;
  made.blockDimZ = bz;
  made.sharedMemBytes = shared;
  made.hStream = stream;
  return made;
}

CUresult get(int* value, CUfunction_attribute which, const Callable* callable) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Image> image;
  if (const CUresult failed = image_of(callable, image)) return failed;
  const Routine& routine = *image->kernel().routine;
  const auto& most =
      routine.required_threads[0] != 0 ? routine.required_threads : routine.most_threads;
  switch (static_cast<int>(which)) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = most[0] == 0 ? 1024 : static_cast<int>(std::min(most[0] * most[1] * most[2], 1024u));
      break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(image->static_shared);
      break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(image->local_extent);
      break;
    // PTX registers are virtual; a GPU has at most 255 registers per thread.
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = std::min(routine.registers, 255);
      break;
    // The target of the PTX; the binary version is the capability of the device.
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      *value = image->module->architecture();
      break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = current_capability();
      break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = static_cast<int>(callable->most_dynamic);
      break;
    default:
      *value = 0;
  }
  return CUDA_SUCCESS;
}

CUresult set(Callable* callable, CUfunction_attribute which, int value) {
  std::shared_ptr<Image> image;
  if (const CUresult failed = image_of(callable, image)) return failed;
  if (which != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_SUCCESS;
  if (value < 0 || value > static_cast<int>(kMostShared - image->static_shared))
    return CUDA_ERROR_INVALID_VALUE;
  callable->most_dynamic = static_cast<uint32_t>(value);
  return CUDA_SUCCESS;
}

/** Return the number of blocks that fit on a multiprocessor, by threads and shared memory. */
int occupancy(const Image& image, int threads, size_t dynamic) {
  if (threads <= 0 || threads > 1024) return 0;
  const size_t shared = image.static_shared + dynamic + 1024;
  return static_cast<int>(std::min<size_t>(
      {32, 2048 / ((static_cast<size_t>(threads) + 31) / 32 * 32), 167936 / shared}));
}

}  // namespace

DL_EXPORT CUresult CUDAAPI cuLaunchKernel(CUfunction function, unsigned int gx, unsigned int gy,
                                          unsigned int gz, unsigned int bx, unsigned int by,
                                          unsigned int bz, unsigned int shared, CUstream stream,
                                          void** params, void** extra) {
  DL_ENTER("cuLaunchKernel");
  return launch(function, config_of(gx, gy, gz, bx, by, bz, shared, stream), params, extra);
}

DL_EXPORT CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function,
                                            void** params, void** extra) {
  DL_ENTER("cuLaunchKernelEx");
  return config == nullptr ? CUDA_ERROR_INVALID_VALUE : launch(function, *config, params, extra);
}

DL_EXPORT CUresult CUDAAPI cuLaunchCooperativeKernel(CUfunction function, unsigned int gx,
                                                     unsigned int gy, unsigned int gz,
                                                     unsigned int bx, unsigned int by,
                                                     unsigned int bz, unsigned int shared,
                                                     CUstream stream, void** params) {
  DL_ENTER("cuLaunchCooperativeKernel");
  CUlaunchConfig config = config_of(gx, gy, gz, bx, by, bz, shared, stream);
  CUlaunchAttribute cooperative{};
  cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  cooperative.value.cooperative = 1;
  config.attrs = &cooperative;
  config.numAttrs = 1;
  return launch(function, config, params, nullptr);
}

DL_EXPORT CUresult CUDAAPI cuFuncGetAttribute(int* value, CUfunction_attribute which,
                                              CUfunction function) {
  DL_ENTER("cuFuncGetAttribute");
  return get(value, which, function);
}

DL_EXPORT CUresult CUDAAPI cuFuncSetAttribute(CUfunction function, CUfunction_attribute which,
                                              int value) {
  DL_ENTER("cuFuncSetAttribute");
  return set(function, which, value);
}

DL_EXPORT CUresult CUDAAPI cuKernelGetAttribute(int* value, CUfunction_attribute which,
                                                CUkernel kernel, CUdevice) {
  DL_ENTER("cuKernelGetAttribute");
  return get(value, which, kernel);
}

DL_EXPORT CUresult CUDAAPI cuKernelSetAttribute(CUfunction_attribute which, int value,
                                                CUkernel kernel, CUdevice) {
  DL_ENTER("cuKernelSetAttribute");
  return set(kernel, which, value);
}

DL_EXPORT CUresult CUDAAPI cuFuncSetCacheConfig(CUfunction, CUfunc_cache) {
  DL_ENTER("cuFuncSetCacheConfig");
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                                       CUfunction function,
                                                                       int threads,
                                                                       size_t dynamic) {
  DL_ENTER("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  if (blocks == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Image> image;
  if (const CUresult failed = image_of(function, image)) return failed;
  *blocks = occupancy(*image, threads, dynamic);
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, CUfunction function, int threads, size_t dynamic, unsigned int) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic);
}

DL_EXPORT CUresult CUDAAPI cuOccupancyMaxPotentialBlockSize(int* grid, int* threads,
                                                            CUfunction function,
                                                            CUoccupancyB2DSize dynamic_of,
                                                            size_t dynamic, int limit) {
  DL_ENTER("cuOccupancyMaxPotentialBlockSize");
  if (grid == nullptr || threads == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Image> image;
  if (const CUresult failed = image_of(function, image)) return failed;
  int most = 0;
  if (const CUresult failed = get(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function))
    return failed;
  if (limit > 0) most = std::min(most, limit);
  int best = 0;
  for (int size = most; size > 0; size = (size - 1) / 32 * 32) {
    const int blocks = occupancy(*image, size, dynamic_of != nullptr ? dynamic_of(size) : dynamic);
    if (blocks * size > best) {
      best = blocks * size;
      *threads = size;
      *grid = blocks * 4;
    }
  }
  return best > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
