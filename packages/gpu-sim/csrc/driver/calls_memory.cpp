// Driver API: device memory and pinned host memory.

#include <cstring>
#include <new>

#include "copies.h"

using namespace sim;

namespace {

CUresult allocate(CUdeviceptr* pointer, size_t bytes) {
  if (pointer == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  try {
    *pointer = Driver::get()
                   .device(current_context()->device)
                   .memory.allocate(bytes, 512, Region::What::kMemory)
                   .base;
    return CUDA_SUCCESS;
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
}

CUresult allocate_host(void** pointer, size_t bytes) {
  if (pointer == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  Driver& driver = Driver::get();
  try {
    auto pages = std::make_unique<Pages>(bytes);
    *pointer = pages->get();
    const std::lock_guard<std::mutex> lock(driver.mutex);
    driver.host[*pointer] = bytes;
    driver.host_pages[*pointer] = std::move(pages);
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  for (const auto& device : driver.devices) device->memory.add_host(*pointer, bytes);
  return CUDA_SUCCESS;
}

CUresult forget_host(void* pointer, bool owned, CUresult otherwise) {
  Driver& driver = Driver::get();
  wait_for_all(current_context());
  const std::lock_guard<std::mutex> lock(driver.mutex);
  if (driver.host.count(pointer) == 0 || (driver.host_pages.count(pointer) != 0) != owned)
    return otherwise;
  for (const auto& device : driver.devices) device->memory.remove_host(pointer);
  driver.host.erase(pointer);
  driver.host_pages.erase(pointer);
  return CUDA_SUCCESS;
}

}  // namespace

DL_EXPORT CUresult CUDAAPI cuMemGetInfo_v2(size_t* free, size_t* total) {
  DL_ENTER("cuMemGetInfo");
  const DeviceMemory& memory = Driver::get().device(current_context()->device).memory;
  if (free != nullptr) *free = memory.limit() - memory.used();
  if (total != nullptr) *total = memory.limit();
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuMemAlloc_v2(CUdeviceptr* pointer, size_t bytes) {
  DL_ENTER("cuMemAlloc");
  return allocate(pointer, bytes);
}

DL_EXPORT CUresult CUDAAPI cuMemAllocPitch_v2(CUdeviceptr* pointer, size_t* pitch, size_t width,
                                              size_t height, unsigned int) {
  DL_ENTER("cuMemAllocPitch");
  if (pitch == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *pitch = (width + 511) / 512 * 512;
  return allocate(pointer, *pitch * height);
}

DL_EXPORT CUresult CUDAAPI cuMemFree_v2(CUdeviceptr pointer) {
  DL_ENTER("cuMemFree");
  if (pointer == 0) return CUDA_SUCCESS;
  const int owner = Driver::get().owner_of(pointer);
  if (owner < 0) {
    auto* host = reinterpret_cast<void*>(static_cast<uintptr_t>(pointer));
    return forget_host(host, true, CUDA_ERROR_INVALID_VALUE);
  }
  Device& device = Driver::get().device(owner);
  wait_for_all(&device.primary);
  if (current_context()->device == owner) wait_for_all(current_context());
  const std::lock_guard<std::mutex> lock(device.running);
  return device.memory.free(pointer) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

DL_EXPORT CUresult CUDAAPI cuMemAllocAsync(CUdeviceptr* pointer, size_t bytes, CUstream handle) {
  DL_ENTER("cuMemAllocAsync");
  if (stream_of(handle) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return allocate(pointer, bytes);
}

DL_EXPORT CUresult CUDAAPI cuMemAllocFromPoolAsync(CUdeviceptr* pointer, size_t bytes, CUmemoryPool,
                                                   CUstream handle) {
  return cuMemAllocAsync(pointer, bytes, handle);
}

DL_EXPORT CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr pointer, CUstream handle) {
  DL_ENTER("cuMemFreeAsync");
  CUstream stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (pointer == 0) return CUDA_SUCCESS;
  const int owner = Driver::get().owner_of(pointer);
  if (owner < 0 || Driver::get().device(owner).memory.find(pointer, 1) == nullptr)
    return CUDA_ERROR_INVALID_VALUE;
  return enqueue(stream, [owner, pointer] {
    Device& device = Driver::get().device(owner);
    const std::lock_guard<std::mutex> lock(device.running);
    device.memory.free(pointer);
  });
}

DL_EXPORT CUresult CUDAAPI cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  DL_ENTER_ANY("cuDeviceGetDefaultMemPool");
  if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *pool = reinterpret_cast<CUmemoryPool>(static_cast<uintptr_t>(device) + 1);
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return cuDeviceGetDefaultMemPool(pool, device);
}

DL_EXPORT CUresult CUDAAPI cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute, void*) {
  DL_ENTER_ANY("cuMemPoolSetAttribute");
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuMemPoolTrimTo(CUmemoryPool, size_t) {
  DL_ENTER_ANY("cuMemPoolTrimTo");
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes,
                                                   CUdeviceptr pointer) {
  DL_ENTER("cuMemGetAddressRange");
  const Region* region = region_of(pointer, 1);
  if (region == nullptr) return CUDA_ERROR_NOT_FOUND;
  if (base != nullptr) *base = region->base;
  if (bytes != nullptr) *bytes = region->size;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuMemHostAlloc(void** pointer, size_t bytes, unsigned int) {
  DL_ENTER("cuMemHostAlloc");
  return allocate_host(pointer, bytes);
}

DL_EXPORT CUresult CUDAAPI cuMemAllocHost_v2(void** pointer, size_t bytes) {
  DL_ENTER("cuMemAllocHost");
  return allocate_host(pointer, bytes);
}

DL_EXPORT CUresult CUDAAPI cuMemAllocManaged(CUdeviceptr* pointer, size_t bytes, unsigned int) {
  DL_ENTER("cuMemAllocManaged");
  void* memory = nullptr;
  if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = allocate_host(&memory, bytes);
  *pointer = reinterpret_cast<uintptr_t>(memory);
  return result;
}

DL_EXPORT CUresult CUDAAPI cuMemFreeHost(void* pointer) {
  DL_ENTER("cuMemFreeHost");
  return forget_host(pointer, true, CUDA_ERROR_INVALID_VALUE);
}

DL_EXPORT CUresult CUDAAPI cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned int) {
  DL_ENTER("cuMemHostRegister");
  if (pointer == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  Driver& driver = Driver::get();
  if (driver.is_pinned(pointer, 1)) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  for (const auto& device : driver.devices) device->memory.add_host(pointer, bytes);
  const std::lock_guard<std::mutex> lock(driver.mutex);
  driver.host[pointer] = bytes;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuMemHostUnregister(void* pointer) {
  DL_ENTER("cuMemHostUnregister");
  return forget_host(pointer, false, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

DL_EXPORT CUresult CUDAAPI cuMemHostGetDevicePointer_v2(CUdeviceptr* device, void* pointer,
                                                        unsigned int) {
  DL_ENTER("cuMemHostGetDevicePointer");
  if (device == nullptr || !Driver::get().is_pinned(pointer, 1)) return CUDA_ERROR_INVALID_VALUE;
  *device = reinterpret_cast<uintptr_t>(pointer);
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuMemHostGetFlags(unsigned int* flags, void* pointer) {
  DL_ENTER("cuMemHostGetFlags");
  if (flags == nullptr || !Driver::get().is_pinned(pointer, 1)) return CUDA_ERROR_INVALID_VALUE;
  *flags = CU_MEMHOSTALLOC_DEVICEMAP;
  return CUDA_SUCCESS;
}

DL_EXPORT CUresult CUDAAPI cuPointerGetAttribute(void* data, CUpointer_attribute which,
                                                 CUdeviceptr pointer) {
  DL_ENTER("cuPointerGetAttribute");
  if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Driver& driver = Driver::get();
  const int owner = driver.owner_of(pointer);
  const Region* region = region_of(pointer, 1);
  if (region == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool host = region->what == Region::What::kHost;
  switch (static_cast<int>(which)) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      *static_cast<CUcontext*>(data) = host ? current_context() : &driver.device(owner).primary;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(data) = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr*>(data) = pointer;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!host) return CUDA_ERROR_INVALID_VALUE;
      *static_cast<void**>(data) = reinterpret_cast<void*>(static_cast<uintptr_t>(pointer));
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned*>(data) = 0;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(data) = host ? current_context()->device : owner;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<CUdeviceptr*>(data) = region->base;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<size_t*>(data) = region->size;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}
