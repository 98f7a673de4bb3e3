// What nvcc's host code calls, without CUDA's runtime: the few functions behind `kernel<<<…>>>` and
// those that dl-kernels calls, over the driver. A vendor includes this in one of its sources, and
// compiles kernels with nvcc, but links them with g++ and without cudart:
//
//   dl::kit::CudaDriver& dl::kit::cuda_loader_driver();   // which the vendor defines
//   #include "dl/kit/cuda_loader.h"
//
// Loading the library costs nothing and touches no driver: device code is handed to the driver when
// a kernel of its unit runs for the first time. The symbols are hidden, and must stay so beside a
// real cudart: link with a version script, as diopi_proto.build does.
//
// Not there: relocatable device code (-rdc), managed variables, the per-thread default stream,
// copies to variables of device code.
#ifndef DL_KIT_CUDA_LOADER_H_
#define DL_KIT_CUDA_LOADER_H_

#include <unistd.h>

#include <mutex>

#include "dl/kit/base.h"
#include "dl/kit/cuda_driver.h"
#include "dl/kit/embedded_code.h"
#include "dl/kit/launch_loader.h"

DL_KIT_BEGIN

// The driver of this process, whether it is installed or not.
CudaDriver& cuda_loader_driver();

namespace cuda {

using kit::Dim3;
using Configurations = LaunchConfigurations<Stream>;

// What __cudaRegisterFatBinary is given.
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
  static const char* way_out(Code code) { return cuda::way_out(code); }
};
using Errors = LaunchErrors<Machine>;

inline Code noted(Code code, const char* operation) {
  return Errors::here().noted(code, operation);
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

// Null after a failure, which is noted. It is not kept: the next launch tries again.
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
  if (known == nullptr) return noted(kNotFound, "cudaLaunchKernel");
  const Kernel kernel = find_kernel(*known);
  if (kernel == nullptr) return Errors::here().last();
  return with_driver("cuLaunchKernel", known, [&](CudaDriver& driver) {
    return driver.launch(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                         static_cast<unsigned>(shared), stream, arguments, nullptr);
  });
}

// The compute capability that a kernel's code was written for, and that of its machine code.
// dl-kernels asks for nothing else.
inline Code read_versions(EmbeddedKernel* known, FunctionAttributes& to) {
  if (known == nullptr) return noted(kNotFound, "cudaFuncGetAttributes");
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

// Names and arguments are those of CUDA's headers.
// clang-format off
#define DL_KIT_LOADED extern "C" [[gnu::visibility("hidden")]]
// clang-format on

// What constructors call, and destructors when the library is closed.
DL_KIT_LOADED void** __cudaRegisterFatBinary(void* wrapper) {
  return reinterpret_cast<void**>(::dl::kit::EmbeddedCode::here().add_image(wrapper));
}
DL_KIT_LOADED void __cudaRegisterFatBinaryEnd(void**) {}
DL_KIT_LOADED void __cudaUnregisterFatBinary(void** handle) {
  auto& image = *reinterpret_cast<::dl::kit::CodeImage*>(handle);
  // What a parent has loaded is its own. At the end of a process the driver may have ended before.
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
// Host code reaches no variable of device code, and none is managed.
DL_KIT_LOADED void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}
DL_KIT_LOADED char __cudaInitModule(void**) { return 1; }

// What `<<<...>>>` and the stubs behind it call.
DL_KIT_LOADED unsigned __cudaPushCallConfiguration(::dl::kit::cuda::Dim3 grid,
                                                   ::dl::kit::cuda::Dim3 block, size_t shared,
                                                   ::dl::kit::cuda::Stream stream) {
  using namespace ::dl::kit::cuda;
  if (Configurations::here().push({grid, block, shared, stream})) return 0;
  noted(kInvalidValue, "__cudaPushCallConfiguration");
  return 1;
}
DL_KIT_LOADED int __cudaPopCallConfiguration(::dl::kit::cuda::Dim3* grid,
                                             ::dl::kit::cuda::Dim3* block, size_t* shared,
                                             ::dl::kit::cuda::Stream* stream) {
  using namespace ::dl::kit::cuda;
  const auto* one = Configurations::here().pop();
  if (one == nullptr) return noted(kInvalidValue, "__cudaPopCallConfiguration");
  *grid = one->grid;
  *block = one->block;
  *shared = one->shared;
  *stream = one->stream;
  return kSuccess;
}
// A stub keeps the answer for good, so that it is our record, which no failing driver can spoil.
DL_KIT_LOADED int __cudaGetKernel(::dl::kit::EmbeddedKernel** out, const void* stub) {
  using namespace ::dl::kit;
  *out = EmbeddedCode::here().kernel(stub);
  return *out != nullptr ? cuda::kSuccess : cuda::noted(cuda::kNotFound, "__cudaGetKernel");
}
DL_KIT_LOADED int __cudaLaunchKernel(::dl::kit::EmbeddedKernel* kernel, ::dl::kit::cuda::Dim3 grid,
                                     ::dl::kit::cuda::Dim3 block, void** arguments, size_t shared,
                                     ::dl::kit::cuda::Stream stream) {
  return ::dl::kit::cuda::launch(kernel, grid, block, arguments, shared, stream);
}
// Toolkits before 13 launch by the stub.
DL_KIT_LOADED int cudaLaunchKernel(const void* stub, ::dl::kit::cuda::Dim3 grid,
                                   ::dl::kit::cuda::Dim3 block, void** arguments, size_t shared,
                                   ::dl::kit::cuda::Stream stream) {
  using namespace ::dl::kit;
  return cuda::launch(EmbeddedCode::here().kernel(stub), grid, block, arguments, shared, stream);
}

// What dl-kernels calls by name.
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
    // The host's memory is pageable, and what is copied there is waited for.
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
