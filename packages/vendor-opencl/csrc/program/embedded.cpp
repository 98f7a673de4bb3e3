// The kernels in this library: their registration by clang's constructors, and their launch.
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "dl/kit/embedded_code.h"
#include "dl/kit/launch_loader.h"
#include "machine/launch.h"
#include "program/cache.h"
#include "program/kernel.h"
#include "program/spirv.h"
#include "runtime/errors.h"

namespace dl::opencl {
namespace {

// `loaded` of an embedded kernel: its kernel on each device. Never freed, like the devices.
struct OnDevices {
  std::atomic<Kernel*> of[Devices::kMost] = {};
};

// The argument of __hipRegisterFatBinary. The image is written by dl_kernels.spirv_unit: a module
// for devices with sub-groups and one for devices without, each after its size.
struct FatBinary {
  unsigned magic, version;
  const unsigned char* data;
  void* unused;
};

static_assert(DL_OPENCL_WARP_THREADS < DL_OPENCL_GROUP_THREADS, "images have two modules");

std::vector<uint32_t> code_of(const kit::EmbeddedKernel& known, bool sub_groups) {
  const unsigned char* at = static_cast<const FatBinary*>(known.image->data)->data;
  uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  if (!sub_groups) {
    at += sizeof bytes + bytes;
    std::memcpy(&bytes, at, sizeof bytes);
  }
  std::vector<uint32_t> words(bytes / sizeof(uint32_t));
  std::memcpy(words.data(), at + sizeof bytes, words.size() * sizeof(uint32_t));
  return single_kernel(words.data(), words.size(), known.name);
}

ProgramReference build_or_load(Device& device, const std::vector<uint32_t>& code) {
  ProgramCache& cache = ProgramCache::here();
  const std::string key =
      device.identity() + "\n" +
      std::string(reinterpret_cast<const char*>(code.data()), code.size() * sizeof(uint32_t));
  const std::string stored = cache.find(key);
  if (!stored.empty()) {
    try {
      return build_binary(device, stored);
    } catch (const kit::Error&) {
      // Another build of the driver with the same version, for example.
      cache.remove(key);
    }
  }
  ProgramReference program = build_spirv(device, code);
  cache.store(key, binary_of(device, program));
  return program;
}

OnDevices& on_devices(kit::EmbeddedKernel& known) {
  void* found = known.loaded.load(std::memory_order_acquire);
  if (found == nullptr) {
    auto made = std::make_unique<OnDevices>();
    if (known.loaded.compare_exchange_strong(found, made.get(), std::memory_order_acq_rel))
      return *made.release();
  }
  return *static_cast<OnDevices*>(found);
}

Kernel& kernel_of(kit::EmbeddedKernel& known, Device& device) {
  std::atomic<Kernel*>& here = on_devices(known).of[device.index()];
  if (Kernel* found = here.load(std::memory_order_acquire)) return *found;
  const std::lock_guard<std::mutex> lock(kit::EmbeddedCode::here().loading());
  // Another thread may have built it while this one waited.
  if (Kernel* found = here.load(std::memory_order_relaxed)) return *found;
  const ProgramReference program = build_or_load(device, code_of(known, device.facts().sub_groups));
  std::unique_ptr<Kernel> made = Kernel::find(device, program, known.name);
  if (made == nullptr)
    throw kit::Error(DL_ERROR, std::string("a built program lacks its kernel ") + known.name);
  here.store(made.get(), std::memory_order_release);
  return *made.release();
}

}  // namespace

void launch(void* stream, const void* kernel, int64_t groups, int threads,
            const Argument* arguments, uint32_t count) {
  kit::EmbeddedKernel* const known = kit::EmbeddedCode::here().kernel(kernel);
  if (known == nullptr)
    throw kit::Error(DL_ERROR, "a kernel was launched that this library has not registered");
  Queue& queue = Queue::of(stream);
  Device& device = queue.device();
  constexpr uint32_t kMostArguments = 64;
  KernelArgument all[kMostArguments];
  if (count > kMostArguments)
    throw kit::Error(DL_ERROR, std::to_string(count) + " arguments are more than " +
                                   std::to_string(kMostArguments));
  for (uint32_t i = 0; i < count; ++i) {
    const Argument& one = arguments[i];
    all[i] = {one.is_pointer ? KernelArgument::kMemory : KernelArgument::kValue, one.bytes,
              one.value};
  }
  const size_t local = static_cast<size_t>(threads), global = static_cast<size_t>(groups) * local;
  kernel_of(*known, device).launch(queue, 1, &global, &local, all, count);
}

void copy_on_device(void* stream, void* to, const void* from, size_t bytes) {
  Queue::of(stream).copy(to, from, bytes);
}

void clear_on_device(void* stream, void* to, size_t bytes) { Queue::of(stream).fill(to, 0, bytes); }

void fetch_from_device(void* stream, void* to, const void* from, size_t bytes) {
  Queue& queue = Queue::of(stream);
  queue.copy(to, from, bytes);
  queue.synchronize();
}

}  // namespace dl::opencl

// Called by clang's host code. Names and arguments follow HIP's.
// clang-format off
#define DL_OPENCL_REGISTERED extern "C" [[gnu::visibility("hidden")]]
// clang-format on

DL_OPENCL_REGISTERED void** __hipRegisterFatBinary(const void* wrapper) {
  return reinterpret_cast<void**>(::dl::kit::EmbeddedCode::here().add_image(wrapper));
}
DL_OPENCL_REGISTERED void __hipUnregisterFatBinary(void**) {}
DL_OPENCL_REGISTERED void __hipRegisterFunction(void** image, const void* kernel, char*,
                                                const char* name, unsigned, void*, void*, void*,
                                                void*, int*) {
  ::dl::kit::EmbeddedCode::here().add_kernel(reinterpret_cast<::dl::kit::CodeImage*>(image), kernel,
                                             name);
}
DL_OPENCL_REGISTERED void __hipRegisterVar(void**, void*, char*, const char*, int, size_t, int,
                                           int) {}
// Called by the stubs of `<<<...>>>`, which the machine header does not use.
DL_OPENCL_REGISTERED int __hipPopCallConfiguration(void*, void*, size_t*, void**) { return 1; }
DL_OPENCL_REGISTERED int hipLaunchKernel(const void*, ::dl::kit::Dim3, ::dl::kit::Dim3, void**,
                                         size_t, void*) {
  return 1;
}
#undef DL_OPENCL_REGISTERED
