// Replacement for the CUDA runtime functions that nvcc's host code calls: those behind
// `kernel<<<…>>>` and those that dl-kernels calls, implemented on the driver API. A vendor includes
// this in one of its sources, compiles kernels with nvcc, and links them with g++ and without
// cudart:
//
//   dl::kit::CudaDriver& dl::kit::cuda_loader_driver();   // which the vendor defines
//   #include "dl/kit/cuda_loader.h"
//
// Loading the library is cheap and does not touch the driver: device code is passed to the driver
// when a kernel of its unit first runs. The symbols are hidden and must stay hidden next to a real
// cudart: link with a version script, as diopi_proto.build does.
//
// Not supported: relocatable device code (-rdc), managed variables, the per-thread default stream,
// copies to device variables.
#ifndef DL_KIT_CUDA_LOADER_H_
#define DL_KIT_CUDA_LOADER_H_

#include <unistd.h>

#include <mutex>

#include "dl/kit/base.h"
#include "dl/kit/cuda_driver.h"
#include "dl/kit/embedded_code.h"
#include "dl/kit/launch_loader.h"

DL_KIT_BEGIN

// The driver of this process, installed or not.
CudaDriver& cuda_loader_driver();

namespace cuda {

using kit::Dim3;
using Configurations = LaunchConfigurations<Stream>;

// The argument of __cudaRegisterFatBinary.
struct FatBinary {
  static constexpr int kMagic = 0x466243b1;
  int magic;
  int version;
  const void* data;
  void* file;
};

struct Machine {
  static constexpr Code kNoDevice = cuda::kNoDevice;
  static CudaDriver& driver() { return cuda_loader_driver(); }
  static const char* remedy(Code code) { return cuda::remedy(code); }
};
using Errors = LaunchErrors<Machine>;

inline Code record(Code code, const char* operation) {
  return Errors::here().record(code, operation);
}
template <class Call>
Code with_driver(const char* operation, const EmbeddedKernel* kernel, const Call& call) {
  return Errors::here().with_driver(operation, kernel, call);
}

inline Code load_image(CudaDriver& driver, CodeImage& image) {
  const std::lock_guard<std::mutex> lock(EmbeddedCode::here().loading());
  if (image.loaded != nullptr) return kSuccess;
  const auto& wrapper = *static_cast<const FatBinary*>(image.data);
  if (wrapper.magic != FatBinary::kMagic) return kInvalidValue;
  Module module = nullptr;
  const Code code =
      driver.module_load(&module, wrapper.data, nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (code != kSuccess) return code;
  image.loaded = module;
  image.loader = getpid();
  return kSuccess;
}

// Returns null after a failure, which is recorded. Failures are not cached: the next launch tries
// again.
inline Kernel find_kernel(EmbeddedKernel& known) {
  if (void* loaded = known.loaded.load(std::memory_order_acquire))
    return static_cast<Kernel>(loaded);
  const auto load = [&](CudaDriver& driver) { return load_image(driver, *known.image); };
  if (with_driver("cuLibraryLoadData", &known, load) != kSuccess) return nullptr;
  Kernel kernel = nullptr;
  const auto look_up = [&](CudaDriver& driver) {
    return driver.module_kernel(&kernel, static_cast<Module>(known.image->loaded), known.name);
  };
  if (with_driver("cuLibraryGetKernel", &known, look_up) != kSuccess) return nullptr;
  known.loaded.store(kernel, std::memory_order_release);
  return kernel;
}

inline Code launch(EmbeddedKernel* known, Dim3 grid, Dim3 block, void** arguments, size_t shared,
                   Stream stream) {
  if (known == nullptr) return record(kNotFound, "cudaLaunchKernel");
  const Kernel kernel = find_kernel(*known);
  if (kernel == nullptr) return Errors::here().last();
  return with_driver("cuLaunchKernel", known, [&](CudaDriver& driver) {
    return driver.launch(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                         static_cast<unsigned>(shared), stream, arguments, nullptr);
  });
}

// Reads the compute capabilities of a kernel's PTX and machine code, the only attributes that
// dl-kernels queries.
inline Code read_versions(EmbeddedKernel* known, FunctionAttributes& to) {
  if (known == nullptr) return record(kNotFound, "cudaFuncGetAttributes");
  const Kernel kernel = find_kernel(*known);
  if (kernel == nullptr) return Errors::here().last();
  return with_driver("cuKernelGetAttribute", known, [&](CudaDriver& driver) {
    Device device = 0;
    Code code = driver.context_device(&device);
    if (code == kSuccess)
      code = driver.kernel_attribute(&to.ptx_version, kFunctionPtxVersion, kernel, device);
    if (code == kSuccess)
      code = driver.kernel_attribute(&to.binary_version, kFunctionBinaryVersion, kernel, device);
    return code;
  });
}

}  // namespace cuda

DL_KIT_END

// Names and arguments follow CUDA's headers.
// clang-format off
#define DL_KIT_LOADED extern "C" [[gnu::visibility("hidden")]]
// clang-format on

// Called by constructors, and by destructors when the library is closed.
DL_KIT_LOADED void** __cudaRegisterFatBinary(void* wrapper) {
  return reinterpret_cast<void**>(::dl::kit::EmbeddedCode::here().add_image(wrapper));
}
DL_KIT_LOADED void __cudaRegisterFatBinaryEnd(void**) {}
DL_KIT_LOADED void __cudaUnregisterFatBinary(void** handle) {
  auto& image = *reinterpret_cast<::dl::kit::CodeImage*>(handle);
  // Code that a parent process loaded belongs to the parent. When the process exits, the driver may
  // already have shut down.
  if (image.loaded == nullptr || image.loader != getpid()) return;
  const auto module = static_cast<::dl::kit::cuda::Module>(image.loaded);
  (void)::dl::kit::cuda_loader_driver().module_unload(module);
  image.loaded = nullptr;
}
DL_KIT_LOADED void __cudaRegisterFunction(void** handle, const char* stub, char*, const char* name,
                                          int, void*, void*, void*, void*, int*) {
  auto* image = reinterpret_cast<::dl::kit::CodeImage*>(handle);
  ::dl::kit::EmbeddedCode::here().add_kernel(image, stub, name);
}
// Host code does not access device variables, and none is managed.
DL_KIT_LOADED void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}
DL_KIT_LOADED char __cudaInitModule(void**) { return 1; }

// Called by `<<<...>>>` and the stubs behind it.
DL_KIT_LOADED unsigned __cudaPushCallConfiguration(::dl::kit::cuda::Dim3 grid,
                                                   ::dl::kit::cuda::Dim3 block, size_t shared,
                                                   ::dl::kit::cuda::Stream stream) {
  using namespace ::dl::kit::cuda;
  if (Configurations::here().push({grid, block, shared, stream})) return 0;
  record(kInvalidValue, "__cudaPushCallConfiguration");
  return 1;
}
DL_KIT_LOADED int __cudaPopCallConfiguration(::dl::kit::cuda::Dim3* grid,
                                             ::dl::kit::cuda::Dim3* block, size_t* shared,
                                             ::dl::kit::cuda::Stream* stream) {
  using namespace ::dl::kit::cuda;
  const auto* one = Configurations::here().pop();
  if (one == nullptr) return record(kInvalidValue, "__cudaPopCallConfiguration");
  *grid = one->grid;
  *block = one->block;
  *shared = one->shared;
  *stream = one->stream;
  return kSuccess;
}
// A stub caches the result forever, so it gets our record, which a failing driver cannot
// invalidate.
DL_KIT_LOADED int __cudaGetKernel(::dl::kit::EmbeddedKernel** out, const void* stub) {
  using namespace ::dl::kit;
  *out = EmbeddedCode::here().kernel(stub);
  return *out != nullptr ? cuda::kSuccess : cuda::record(cuda::kNotFound, "__cudaGetKernel");
}
DL_KIT_LOADED int __cudaLaunchKernel(::dl::kit::EmbeddedKernel* kernel, ::dl::kit::cuda::Dim3 grid,
                                     ::dl::kit::cuda::Dim3 block, void** arguments, size_t shared,
                                     ::dl::kit::cuda::Stream stream) {
  return ::dl::kit::cuda::launch(kernel, grid, block, arguments, shared, stream);
}
// Toolkits before 13 launch by stub.
DL_KIT_LOADED int cudaLaunchKernel(const void* stub, ::dl::kit::cuda::Dim3 grid,
                                   ::dl::kit::cuda::Dim3 block, void** arguments, size_t shared,
                                   ::dl::kit::cuda::Stream stream) {
  using namespace ::dl::kit;
  return cuda::launch(EmbeddedCode::here().kernel(stub), grid, block, arguments, shared, stream);
}

// Called by dl-kernels.
DL_KIT_LOADED int cudaFuncGetAttributes(::dl::kit::cuda::FunctionAttributes* to, const void* stub) {
  using namespace ::dl::kit;
  return cuda::read_versions(EmbeddedCode::here().kernel(stub), *to);
}
DL_KIT_LOADED int cudaGetLastError() { return ::dl::kit::cuda::Errors::here().take(); }
DL_KIT_LOADED const char* cudaGetErrorString(int code) {
  return ::dl::kit::cuda::Errors::here().describe(code);
}
DL_KIT_LOADED int cudaMemcpyAsync(void* to, const void* from, size_t bytes, int kind,
                                  ::dl::kit::cuda::Stream stream) {
  using namespace ::dl::kit::cuda;
  constexpr int kToHost = 2, kOnDevice = 3;
  return with_driver("cudaMemcpyAsync", nullptr, [&](::dl::kit::CudaDriver& driver) -> Code {
    // Host memory is pageable, and copies to it are synchronous.
    if (kind == kToHost && captures(driver, stream)) return kCaptureUnsupported;
    if (kind == kToHost) return driver.copy_to_host(to, address_of(from), bytes, stream);
    if (kind == kOnDevice)
      return driver.copy_on_device(address_of(to), address_of(from), bytes, stream);
    return kInvalidValue;
  });
}
DL_KIT_LOADED int cudaMemsetAsync(void* to, int value, size_t bytes,
                                  ::dl::kit::cuda::Stream stream) {
  using namespace ::dl::kit::cuda;
  return with_driver("cudaMemsetAsync", nullptr, [&](::dl::kit::CudaDriver& driver) {
    return driver.set_bytes(address_of(to), static_cast<unsigned char>(value), bytes, stream);
  });
}
DL_KIT_LOADED int cudaStreamSynchronize(::dl::kit::cuda::Stream stream) {
  using namespace ::dl::kit::cuda;
  return with_driver("cudaStreamSynchronize", nullptr, [&](::dl::kit::CudaDriver& driver) -> Code {
    return captures(driver, stream) ? kCaptureUnsupported : driver.stream_synchronize(stream);
  });
}

#undef DL_KIT_LOADED

#endif  // DL_KIT_CUDA_LOADER_H_
