// Driver API: peer access between devices, and memory that processes share (IPC).

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "state.h"

using namespace sim;

namespace {

bool is_device(CUdevice device) {
  return device >= 0 && device < static_cast<int>(Driver::get().devices.size());
}

/** The current context and the peer context. */
CUresult pair(CUcontext peer, CUcontext& own) {
  own = current_context();
  Driver& driver = Driver::get();
  const std::lock_guard<std::mutex> lock(driver.mutex);
  if (driver.contexts.count(peer) == 0) return CUDA_ERROR_INVALID_CONTEXT;
  return peer->device == own->device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

/** Content of a CUipcMemHandle: location of the bytes for another process. */
struct Shared {
  int64_t process;
  int bytes, flags;  // descriptors of that process
  uint64_t size;
};
static_assert(sizeof(Shared) <= sizeof(CUipcMemHandle), "the handle is too small");

int open_of(const Shared& shared, int descriptor) {
  const std::string path =
      "/proc/" + std::to_string(shared.process) + "/fd/" + std::to_string(descriptor);
  return open(path.c_str(), O_RDWR | O_CLOEXEC);
}

}  // namespace

DL_EXPORT CUresult CUDAAPI cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  DL_ENTER_ANY("cuDeviceCanAccessPeer");
  if (can == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(device) || !is_device(peer)) return CUDA_ERROR_INVALID_DEVICE;
  *can = device != peer;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuCtxEnablePeerAccess(CUcontext peer, unsigned int) {
  DL_ENTER("cuCtxEnablePeerAccess");
  CUcontext own = nullptr;
  if (const CUresult failed = pair(peer, own)) return failed;
  const std::lock_guard<std::mutex> lock(own->mutex);
  if (!own->peers.insert(peer).second) return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  Driver::get().device(own->device).memory.add_peer(&Driver::get().device(peer->device).memory);
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuCtxDisablePeerAccess(CUcontext peer) {
  DL_ENTER("cuCtxDisablePeerAccess");
  CUcontext own = nullptr;
  if (const CUresult failed = pair(peer, own)) return failed;
  const std::lock_guard<std::mutex> lock(own->mutex);
  if (own->peers.erase(peer) == 0) return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
  Driver::get().device(own->device).memory.remove_peer(&Driver::get().device(peer->device).memory);
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr pointer) {
  DL_ENTER("cuIpcGetMemHandle");
  const int owner = Driver::get().owner_of(pointer);
  if (handle == nullptr || owner < 0) return CUDA_ERROR_INVALID_VALUE;
  Device& device = Driver::get().device(owner);
  const std::lock_guard<std::mutex> lock(device.running);
  OwnedRegion* region = device.memory.owned(pointer);
  if (region == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Shared shared{};
  if (!region->share(shared.bytes, shared.flags)) return CUDA_ERROR_OUT_OF_MEMORY;
  shared.process = getpid();
  shared.size = region->size;
  std::memset(handle, 0, sizeof *handle);
  std::memcpy(handle->reserved, &shared, sizeof shared);
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuIpcOpenMemHandle_v2(CUdeviceptr* pointer, CUipcMemHandle handle,
                                                 unsigned int) {
  DL_ENTER("cuIpcOpenMemHandle");
  if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Shared shared;
  std::memcpy(&shared, handle.reserved, sizeof shared);
  if (shared.process == getpid()) return CUDA_ERROR_INVALID_CONTEXT;
  const int bytes = open_of(shared, shared.bytes), flags = open_of(shared, shared.flags);
  CUresult result = CUDA_ERROR_MAP_FAILED;
  struct stat found{};
  // By now the descriptor may refer to another file.
  if (bytes >= 0 && flags >= 0 && fstat(bytes, &found) == 0 &&
      static_cast<uint64_t>(found.st_size) == shared.size) {
    try {
      DeviceMemory& memory = Driver::get().device(current_context()->device).memory;
      *pointer = memory.adopt(bytes, flags, shared.size).base;
      result = CUDA_SUCCESS;
    } catch (const std::bad_alloc&) {
      result = CUDA_ERROR_OUT_OF_MEMORY;
    }
  }
  if (bytes >= 0) close(bytes);
  if (flags >= 0) close(flags);
  return result;
}

DL_EXPORT CUresult CUDAAPI cuIpcCloseMemHandle(CUdeviceptr pointer) {
  DL_ENTER("cuIpcCloseMemHandle");
  const int owner = Driver::get().owner_of(pointer);
  if (owner < 0) return CUDA_ERROR_INVALID_VALUE;
  Device& device = Driver::get().device(owner);
  wait_for_all(&device.primary);
  const std::lock_guard<std::mutex> lock(device.running);
  return device.memory.free(pointer) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
