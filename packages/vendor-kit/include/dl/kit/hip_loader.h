// Replacement for the HIP runtime functions that hipcc's host code calls: those behind
// `kernel<<<...>>>` and those that dl-kernels calls, implemented on the module API. A vendor
// includes this in one of its sources, compiles kernels with hipcc, and links them with g++ and
// without libamdhip64:
//
//   dl::kit::HipDriver& dl::kit::hip_loader_driver();   // which the vendor defines
//   #include "dl/kit/hip_loader.h"
//
// Loading the library is cheap and does not touch the driver: device code is passed to the driver
// when a kernel of its unit first runs on a device. The symbols are hidden and must stay hidden
// next to a real libamdhip64: link with a version script, as diopi_proto.build does.
//
// Not supported: relocatable device code (-fgpu-rdc), managed variables, the per-thread default
// stream, copies to device variables.
#ifndef DL_KIT_HIP_LOADER_H_
#define DL_KIT_HIP_LOADER_H_

#include <atomic>
#include <mutex>

#include "dl/kit/base.h"
#include "dl/kit/embedded_code.h"
#include "dl/kit/hip_driver.h"
#include "dl/kit/launch_loader.h"

DL_KIT_BEGIN

// The driver of this process, installed or not.
HipDriver& hip_loader_driver();

namespace hip {

using kit::Dim3;
using Configurations = LaunchConfigurations<Stream>;

// The argument of __hipRegisterFatBinary: `data` is a bundle of code objects for several
// architectures, from which the driver selects the matching one.
struct FatBinary {
  static constexpr unsigned kMagic = 0x48495046;  // "HIPF"
  unsigned magic;
  unsigned version;
  const void* data;
  void* unused;
};

struct Machine {
  static constexpr Code kNoDevice = hip::kNoDevice;
  static HipDriver& driver() { return hip_loader_driver(); }
  static const char* remedy(Code code) { return hip::remedy(code); }
};
using Errors = LaunchErrors<Machine>;

inline Code record(Code code, const char* operation) {
  return Errors::here().record(code, operation);
}
template <class Call>
Code with_driver(const char* operation, const EmbeddedKernel* kernel, const Call& call) {
  return Errors::here().with_driver(operation, kernel, call);
}

// A module belongs to the device that was current when it was loaded. `loaded` of an image, and of
// a kernel, points to such a struct.
constexpr int kMostDevices = 64;
struct Modules {
  Module of[kMostDevices] = {};
};
struct Kernels {
  std::atomic<Kernel> of[kMostDevices] = {};
};

// Returns the module of an image on the current device, which is `device`. Called with the loading
// mutex locked.
inline Code load_image(HipDriver& driver, CodeImage& image, int device, Module* out) {
  const auto& wrapper = *static_cast<const FatBinary*>(image.data);
  if (wrapper.magic != FatBinary::kMagic) return kInvalidImage;
  if (image.loaded == nullptr) image.loaded = new Modules;
  Module& module = static_cast<Modules*>(image.loaded)->of[device];
  if (module == nullptr) {
    Module loaded = nullptr;
    if (const Code failed = driver.module_load(&loaded, wrapper.data)) return failed;
    module = loaded;
  }
  *out = module;
  return kSuccess;
}

// Returns the kernels of a stub, one for each device. They are never freed, because stubs cache
// them.
inline Kernels& kernels_of(EmbeddedKernel& known) {
  void* found = known.loaded.load(std::memory_order_acquire);
  if (found == nullptr) {
    auto* made = new Kernels;
    if (known.loaded.compare_exchange_strong(found, made, std::memory_order_acq_rel)) return *made;
    delete made;
  }
  return *static_cast<Kernels*>(found);
}

// Returns null after a failure, which is recorded. Failures are not cached: the next launch tries
// again.
inline Kernel find_kernel(EmbeddedKernel& known) {
  int device = 0;
  const auto ask = [&](HipDriver& driver) {
    const Code failed = driver.device_current(&device);
    return failed == kSuccess && device >= kMostDevices ? int(kInvalidDevice) : failed;
  };
  if (with_driver("hipGetDevice", &known, ask) != kSuccess) return nullptr;
  std::atomic<Kernel>& here = kernels_of(known).of[device];
  if (const Kernel loaded = here.load(std::memory_order_acquire)) return loaded;
  const std::lock_guard<std::mutex> lock(EmbeddedCode::here().loading());
  // Another thread may have loaded it while this one waited.
  if (const Kernel loaded = here.load(std::memory_order_relaxed)) return loaded;
  Module module = nullptr;
  const auto load = [&](HipDriver& driver) {
    return load_image(driver, *known.image, device, &module);
  };
  if (with_driver("hipModuleLoadData", &known, load) != kSuccess) return nullptr;
  Kernel kernel = nullptr;
  const auto look_up = [&](HipDriver& driver) {
    return driver.module_kernel(&kernel, module, known.name);
  };
  if (with_driver("hipModuleGetFunction", &known, look_up) != kSuccess) return nullptr;
  here.store(kernel, std::memory_order_release);
  return kernel;
}

inline Code launch(const void* stub, Dim3 grid, Dim3 block, void** arguments, size_t shared,
                   Stream stream) {
  EmbeddedKernel* const known = EmbeddedCode::here().kernel(stub);
  if (known == nullptr) return record(kInvalidDeviceFunction, "hipLaunchKernel");
  const Kernel kernel = find_kernel(*known);
  if (kernel == nullptr) return Errors::here().last();
  return with_driver("hipModuleLaunchKernel", known, [&](HipDriver& driver) {
    return driver.launch(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                         static_cast<unsigned>(shared), stream, arguments, nullptr);
  });
}

}  // namespace hip

DL_KIT_END

// Names and arguments follow HIP's headers.
// clang-format off
#define DL_KIT_LOADED extern "C" [[gnu::visibility("hidden")]]
// clang-format on

// Called by constructors, and by destructors when the library is closed. Modules are not unloaded:
// most libraries are closed when the process exits, and HIP's driver, which was opened later, has
// then already shut down and must not be called.
DL_KIT_LOADED void** __hipRegisterFatBinary(const void* wrapper) {
  return reinterpret_cast<void**>(::dl::kit::EmbeddedCode::here().add_image(wrapper));
}
DL_KIT_LOADED void __hipUnregisterFatBinary(void** handle) {
  auto& image = *reinterpret_cast<::dl::kit::CodeImage*>(handle);
  delete static_cast<::dl::kit::hip::Modules*>(image.loaded);
  image.loaded = nullptr;
}
DL_KIT_LOADED void __hipRegisterFunction(void** handle, const void* stub, char*, const char* name,
                                         unsigned, void*, void*, void*, void*, int*) {
  auto* image = reinterpret_cast<::dl::kit::CodeImage*>(handle);
  ::dl::kit::EmbeddedCode::here().add_kernel(image, stub, name);
}
// Host code does not access device variables, and none is managed.
DL_KIT_LOADED void __hipRegisterVar(void**, void*, char*, char*, int, size_t, int, int) {}

// Called by `<<<...>>>` and the stubs behind it.
DL_KIT_LOADED int __hipPushCallConfiguration(::dl::kit::Dim3 grid, ::dl::kit::Dim3 block,
                                             size_t shared, ::dl::kit::hip::Stream stream) {
  using namespace ::dl::kit::hip;
  if (Configurations::here().push({grid, block, shared, stream})) return kSuccess;
  return record(kInvalidConfiguration, "__hipPushCallConfiguration");
}
DL_KIT_LOADED int __hipPopCallConfiguration(::dl::kit::Dim3* grid, ::dl::kit::Dim3* block,
                                            size_t* shared, ::dl::kit::hip::Stream* stream) {
  using namespace ::dl::kit::hip;
  const auto* one = Configurations::here().pop();
  if (one == nullptr) return record(kInvalidConfiguration, "__hipPopCallConfiguration");
  *grid = one->grid;
  *block = one->block;
  *shared = one->shared;
  *stream = one->stream;
  return kSuccess;
}
DL_KIT_LOADED int hipLaunchKernel(const void* stub, ::dl::kit::Dim3 grid, ::dl::kit::Dim3 block,
                                  void** arguments, size_t shared, ::dl::kit::hip::Stream stream) {
  return ::dl::kit::hip::launch(stub, grid, block, arguments, shared, stream);
}

// Called by dl-kernels.
DL_KIT_LOADED int hipGetLastError() { return ::dl::kit::hip::Errors::here().take(); }
DL_KIT_LOADED const char* hipGetErrorString(int code) {
  return ::dl::kit::hip::Errors::here().describe(code);
}
DL_KIT_LOADED int hipMemcpyAsync(void* to, const void* from, size_t bytes, int kind,
                                 ::dl::kit::hip::Stream stream) {
  using namespace ::dl::kit::hip;
  return with_driver("hipMemcpyAsync", nullptr, [&](::dl::kit::HipDriver& driver) -> Code {
    // The caller reads the result next and waits for it.
    if (kind == kDeviceToHost && ::dl::kit::captures(driver, stream)) return kCaptureUnsupported;
    return driver.copy(to, from, bytes, kind, stream);
  });
}
DL_KIT_LOADED int hipMemsetAsync(void* to, int value, size_t bytes, ::dl::kit::hip::Stream stream) {
  using namespace ::dl::kit::hip;
  return with_driver("hipMemsetAsync", nullptr, [&](::dl::kit::HipDriver& driver) {
    return driver.set_bytes(to, value, bytes, stream);
  });
}
DL_KIT_LOADED int hipStreamSynchronize(::dl::kit::hip::Stream stream) {
  using namespace ::dl::kit::hip;
  return with_driver("hipStreamSynchronize", nullptr, [&](::dl::kit::HipDriver& driver) -> Code {
    return ::dl::kit::captures(driver, stream) ? int(kCaptureUnsupported)
                                               : driver.stream_synchronize(stream);
  });
}

#undef DL_KIT_LOADED

#endif  // DL_KIT_HIP_LOADER_H_
