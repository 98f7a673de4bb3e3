// Driver API: copies and fills.

#include "copies.h"

using namespace sim;

namespace {

uint64_t host(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

}  // namespace

DL_EXPORT CUresult CUDAAPI cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  DL_ENTER("cuMemcpy");
  return copy(to, from, bytes, Direction::kAny, nullptr, true);
}

DL_EXPORT CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                         CUstream stream) {
  DL_ENTER("cuMemcpyAsync");
  return copy(to, from, bytes, Direction::kAny, stream, false);
}

DL_EXPORT CUresult CUDAAPI cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  DL_ENTER("cuMemcpyHtoD");
  return copy(to, host(from), bytes, Direction::kToDevice, nullptr, true);
}

DL_EXPORT CUresult CUDAAPI cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  DL_ENTER("cuMemcpyDtoH");
  return copy(host(to), from, bytes, Direction::kToHost, nullptr, true);
}

DL_EXPORT CUresult CUDAAPI cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  DL_ENTER("cuMemcpyDtoD");
  return copy(to, from, bytes, Direction::kInside, nullptr, true);
}

DL_EXPORT CUresult CUDAAPI cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes,
                                                CUstream stream) {
  DL_ENTER("cuMemcpyHtoDAsync");
  return copy(to, host(from), bytes, Direction::kToDevice, stream, false);
}

DL_EXPORT CUresult CUDAAPI cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes,
                                                CUstream stream) {
  DL_ENTER("cuMemcpyDtoHAsync");
  return copy(host(to), from, bytes, Direction::kToHost, stream, false);
}

DL_EXPORT CUresult CUDAAPI cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                                CUstream stream) {
  DL_ENTER("cuMemcpyDtoDAsync");
  return copy(to, from, bytes, Direction::kInside, stream, false);
}

DL_EXPORT CUresult CUDAAPI cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                                        size_t bytes) {
  DL_ENTER("cuMemcpyPeer");
  return copy(to, from, bytes, Direction::kInside, nullptr, true);
}

DL_EXPORT CUresult CUDAAPI cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                                             size_t bytes, CUstream stream) {
  DL_ENTER("cuMemcpyPeerAsync");
  return copy(to, from, bytes, Direction::kInside, stream, false);
}

DL_EXPORT CUresult CUDAAPI cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  DL_ENTER("cuMemsetD8");
  return fill(to, value, 1, count, nullptr, true);
}

DL_EXPORT CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count,
                                           CUstream stream) {
  DL_ENTER("cuMemsetD8Async");
  return fill(to, value, 1, count, stream, false);
}

DL_EXPORT CUresult CUDAAPI cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
  DL_ENTER("cuMemsetD16");
  return fill(to, value, 2, count, nullptr, true);
}

DL_EXPORT CUresult CUDAAPI cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count,
                                            CUstream stream) {
  DL_ENTER("cuMemsetD16Async");
  return fill(to, value, 2, count, stream, false);
}

DL_EXPORT CUresult CUDAAPI cuMemsetD32_v2(CUdeviceptr to, unsigned int value, size_t count) {
  DL_ENTER("cuMemsetD32");
  return fill(to, value, 4, count, nullptr, true);
}

DL_EXPORT CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count,
                                            CUstream stream) {
  DL_ENTER("cuMemsetD32Async");
  return fill(to, value, 4, count, stream, false);
}
