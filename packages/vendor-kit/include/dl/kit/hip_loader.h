// What hipcc's host code calls, without HIP's runtime: the few functions behind `kernel<<<...>>>`
// and those that dl-kernels calls, over the driver's modules. A vendor includes this in one of its
// sources, and compiles kernels with hipcc, but links them with g++ and without libamdhip64:
//
//   dl::kit::HipDriver& dl::kit::hip_loader_driver();   // which the vendor defines
//   #include "dl/kit/hip_loader.h"
//
// Loading the library costs nothing and touches no driver: device code is handed to the driver when
// a kernel of its unit first runs on a device. The symbols are hidden, and must stay so beside a
// real libamdhip64: link with a version script, as diopi_proto.build does.
//
// Not there: relocatable device code (-fgpu-rdc), managed variables, the per-thread default stream,
// copies to variables of device code.
#ifndef DL_KIT_HIP_LOADER_H_
#define DL_KIT_HIP_LOADER_H_

#include <atomic>
#include <mutex>

#include "dl/kit/base.h"
#include "dl/kit/embedded_code.h"
#include "dl/kit/hip_driver.h"
#include "dl/kit/launch_loader.h"

DL_KIT_BEGIN

// The driver of this process, whether it is installed or not.
HipDriver& hip_loader_driver();

namespace hip {

using kit::Dim3;
using Configurations = LaunchConfigurations<Stream>;

// What __hipRegisterFatBinary is given: `data` is a bundle of code objects for several processors,
// of which the driver takes the one that fits.
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
  static const char* way_out(Code code) { return hip::way_out(code); }
};
using Errors = LaunchErrors<Machine>;

inline Code noted(Code code, const char* operation) {
  return Errors::here().noted(code, operation);
}
template <class Call>
Code with_driver(const char* operation, const EmbeddedKernel* kernel, const Call& call) {
  return Errors::here().with_driver(operation, kernel, call);
}

// A module belongs to the device that was current when it was loaded. There is one of these behind
// `loaded` of an image, and of a kernel.
constexpr int kMostDevices = 64;
struct Modules {
  Module of[kMostDevices] = {};
};
struct Kernels {
  std::atomic<Kernel> of[kMostDevices] = {};
};

// The module of an image on the current device, which is `device`. Under the lock of loading.
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

// The kernels of a stub, one for each device. They stay for good, as what the stub is known by.
inline Kernels& kernels_of(EmbeddedKernel& known) {
  void* found = known.loaded.load(std::memory_order_acquire);
  if (found == nullptr) {
    auto* made = new Kernels;
    if (known.loaded.compare_exchange_strong(found, made, std::memory_order_acq_rel)) return *made;
    delete made;
  }
  return *static_cast<Kernels*>(found);
}

// Null after a failure, which is noted. It is not kept: the next launch tries again.
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
  if (known == nullptr) return noted(kInvalidDeviceFunction, "hipLaunchKernel");
  const Kernel kernel = find_kernel(*known);
  if (kernel == nullptr) return Errors::here().last();
  return with_driver("hipModuleLaunchKernel", known, [&](HipDriver& driver) {
    return driver.launch(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                         static_cast<unsigned>(shared), stream, arguments, nullptr);
  });
}

}  // namespace hip

DL_KIT_END

// Names and arguments are those of HIP's headers.
// clang-format off
#define DL_KIT_LOADED extern "C" [[gnu::visibility("hidden")]]
// clang-format on

// What constructors call, and destructors when the library is closed. Modules stay with the driver:
// at the end of a process, when most libraries are closed, it has ended before, since it was opened
// later, and HIP's does not bear to be called then.
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
// Host code reaches no variable of device code, and none is managed.
DL_KIT_LOADED void __hipRegisterVar(void**, void*, char*, char*, int, size_t, int, int) {}

// What `<<<...>>>` and the stubs behind it call.
DL_KIT_LOADED int __hipPushCallConfiguration(::dl::kit::Dim3 grid, ::dl::kit::Dim3 block,
                                             size_t shared, ::dl::kit::hip::Stream stream) {
  using namespace ::dl::kit::hip;
  if (Configurations::here().push({grid, block, shared, stream})) return kSuccess;
  return noted(kInvalidConfiguration, "__hipPushCallConfiguration");
}
DL_KIT_LOADED int __hipPopCallConfiguration(::dl::kit::Dim3* grid, ::dl::kit::Dim3* block,
                                            size_t* shared, ::dl::kit::hip::Stream* stream) {
  using namespace ::dl::kit::hip;
  const auto* one = Configurations::here().pop();
  if (one == nullptr) return noted(kInvalidConfiguration, "__hipPopCallConfiguration");
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

// What dl-kernels calls by name.
DL_KIT_LOADED int hipGetLastError() { return ::dl::kit::hip::Errors::here().take(); }
DL_KIT_LOADED const char* hipGetErrorString(int code) {
  return ::dl::kit::hip::Errors::here().describe(code);
}
DL_KIT_LOADED int hipMemcpyAsync(void* to, const void* from, size_t bytes, int kind,
                                 ::dl::kit::hip::Stream stream) {
  using namespace ::dl::kit::hip;
  return with_driver("hipMemcpyAsync", nullptr, [&](::dl::kit::HipDriver& driver) -> Code {
    // What reads a result waits for it next.
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
