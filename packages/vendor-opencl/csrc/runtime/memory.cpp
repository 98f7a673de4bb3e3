#include "runtime/memory.h"

#include "runtime/errors.h"

namespace dl::opencl {
namespace {

constexpr cl::UInt kAlignment = 64;

template <class Function>
void find(const Driver& driver, cl::Platform platform, const char* name, Function* out) {
  *out = reinterpret_cast<Function>(driver.GetExtensionFunctionAddressForPlatform(platform, name));
  if (*out == nullptr)
    throw kit::Error(DL_UNAVAILABLE,
                     std::string("the driver announces unified shared memory, but has no ") + name);
}

[[noreturn]] void refuse_allocation(size_t bytes, cl::Int code, const char* function) {
  throw kit::Error(
      DL_OUT_OF_MEMORY,
      std::to_string(bytes) + " bytes of device memory are not available: " + text_of(code),
      function);
}

}  // namespace

bool has_usm(const Driver& driver, cl::DeviceId device, const std::string& extensions) {
  cl::Bits access = 0;
  return extensions.find("cl_intel_unified_shared_memory") != std::string::npos &&
         driver.GetDeviceInfo(device, cl::kDeviceUsmDeviceCapabilities, sizeof access, &access,
                              nullptr) == cl::kSuccess &&
         (access & 1) != 0;
}

bool has_svm(const Driver& driver, cl::DeviceId device) {
  cl::Bits kinds = 0;
  return driver.GetDeviceInfo(device, cl::kDeviceSvmCapabilities, sizeof kinds, &kinds, nullptr) ==
             cl::kSuccess &&
         kinds != 0;
}

UsmMemory::UsmMemory(const Driver& driver, cl::Platform platform, cl::Context context,
                     cl::DeviceId device)
    : driver_(driver), context_(context), device_(device) {
  find(driver, platform, "clDeviceMemAllocINTEL", &allocate_);
  find(driver, platform, "clMemFreeINTEL", &free_);
  find(driver, platform, "clEnqueueMemcpyINTEL", &copy_);
  find(driver, platform, "clEnqueueMemFillINTEL", &fill_);
  find(driver, platform, "clSetKernelArgMemPointerINTEL", &set_);
}

void* UsmMemory::allocate(size_t bytes) {
  cl::Int code = cl::kSuccess;
  void* const memory = allocate_(context_, device_, nullptr, bytes, kAlignment, &code);
  if (memory == nullptr) refuse_allocation(bytes, code, "clDeviceMemAllocINTEL");
  return memory;
}

void UsmMemory::release(void* memory) {
  check(free_(context_, memory), "clMemFreeINTEL", "memory was not freed");
}

void UsmMemory::copy(cl::CommandQueue queue, void* to, const void* from, size_t bytes) {
  check(copy_(queue, cl::kFalse, to, from, bytes, 0, nullptr, nullptr), "clEnqueueMemcpyINTEL",
        "a copy was not enqueued");
}

void UsmMemory::fill(cl::CommandQueue queue, void* to, unsigned char value, size_t bytes) {
  check(fill_(queue, to, &value, sizeof value, bytes, 0, nullptr, nullptr), "clEnqueueMemFillINTEL",
        "memory was not set");
}

void UsmMemory::set_pointer(cl::KernelObject kernel, uint32_t index, const void* memory) {
  check(set_(kernel, index, memory), "clSetKernelArgMemPointerINTEL",
        "argument " + std::to_string(index) + " was not set");
}

uint64_t UsmMemory::announce(cl::KernelObject kernel, uint64_t known) {
  if (known != 0) return known;
  const cl::UInt yes = cl::kTrue;
  check(driver_.SetKernelExecInfo(kernel, cl::kKernelIndirectDeviceAccess, sizeof yes, &yes),
        "clSetKernelExecInfo", "access through pointers was not allowed");
  return 1;
}

void* SvmMemory::allocate(size_t bytes) {
  void* const memory = driver_.SVMAlloc(context_, cl::kReadWrite, bytes, kAlignment);
  if (memory == nullptr) refuse_allocation(bytes, cl::kMemoryAllocationFailure, "clSVMAlloc");
  const std::lock_guard<std::mutex> lock(mutex_);
  allocated_[memory] = bytes;
  ++version_;
  return memory;
}

void SvmMemory::release(void* memory) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    allocated_.erase(memory);
    ++version_;
  }
  driver_.SVMFree(context_, memory);
}

void SvmMemory::copy(cl::CommandQueue queue, void* to, const void* from, size_t bytes) {
  check(driver_.EnqueueSVMMemcpy(queue, cl::kFalse, to, from, bytes, 0, nullptr, nullptr),
        "clEnqueueSVMMemcpy", "a copy was not enqueued");
}

void SvmMemory::fill(cl::CommandQueue queue, void* to, unsigned char value, size_t bytes) {
  check(driver_.EnqueueSVMMemFill(queue, to, &value, sizeof value, bytes, 0, nullptr, nullptr),
        "clEnqueueSVMMemFill", "memory was not set");
}

void SvmMemory::set_pointer(cl::KernelObject kernel, uint32_t index, const void* memory) {
  check(driver_.SetKernelArgSVMPointer(kernel, index, memory), "clSetKernelArgSVMPointer",
        "argument " + std::to_string(index) + " was not set");
}

uint64_t SvmMemory::announce(cl::KernelObject kernel, uint64_t known) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (known == version_ || allocated_.empty()) return known;
  std::vector<void*> all;
  for (const auto& [memory, bytes] : allocated_) all.push_back(memory);
  check(driver_.SetKernelExecInfo(kernel, cl::kKernelSvmPointers, all.size() * sizeof(void*),
                                  all.data()),
        "clSetKernelExecInfo", "access through pointers was not allowed");
  return version_;
}

}  // namespace dl::opencl
