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

#include <cxxabi.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

#include "dl/kit/base.h"
#include "dl/kit/cuda_driver.h"
#include "dl/kit/embedded_code.h"

DL_KIT_BEGIN

// The driver of this process, whether it is installed or not.
CudaDriver& cuda_loader_driver();

namespace cuda {

// As CUDA's headers have it: the size of a grid, or a block.
struct Dim3 {
  unsigned x, y, z;
};

// What __cudaRegisterFatBinary is given.
struct FatBinary {
  static constexpr int kMagic = 0x466243b1;
  int magic;
  int version;
  const void* data;
  void* file;
};

// What the brackets of a launch leave for the stub that follows. Arguments are evaluated between
// the two and may launch kernels themselves.
struct Configuration {
  Dim3 grid, block;
  size_t shared;
  Stream stream;
};
class Configurations {
 public:
  bool push(const Configuration& one) {
    if (depth_ == kDeepest) return false;
    stack_[depth_++] = one;
    return true;
  }
  const Configuration* pop() { return depth_ == 0 ? nullptr : &stack_[--depth_]; }

 private:
  static constexpr int kDeepest = 8;
  Configuration stack_[kDeepest];
  int depth_ = 0;
};

// The last failure of a thread, until somebody takes it: stubs drop what a launch returns.
struct LastError {
  Code code = kSuccess;
  const char* operation = nullptr;
  const char* kernel = nullptr;
  std::string words;  // what cudaGetErrorString has said last
};

inline LastError& last_error() {
  thread_local LastError error;
  return error;
}
inline Configurations& configurations() {
  thread_local Configurations stack;
  return stack;
}

// The result of a driver's call, noted if it is a failure.
inline Code noted(Code code, const char* operation, const EmbeddedKernel* kernel = nullptr) {
  if (code == kSuccess) return code;
  LastError& last = last_error();
  last.code = code;
  last.operation = operation;
  last.kernel = kernel == nullptr ? nullptr : kernel->name;
  return code;
}

// Runs `call(driver)`. Where there is no driver, there is no device.
template <class Call>
Code with_driver(const char* operation, const EmbeddedKernel* kernel, const Call& call) {
  try {
    return noted(call(cuda_loader_driver()), operation, kernel);
  } catch (const Error&) {
    return noted(kNoDevice, operation, kernel);
  }
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
  if (kernel == nullptr) return last_error().code;
  return with_driver("cuLaunchKernel", known, [&](CudaDriver& driver) {
    return driver.launch(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                         static_cast<unsigned>(shared), stream, arguments, nullptr);
  });
}

// The demangled name of a kernel, as much of it as one reads.
inline std::string shown_name(const char* mangled) {
  constexpr size_t kMost = 160;
  int status = 0;
  char* const plain = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string name = plain == nullptr ? mangled : plain;
  std::free(plain);
  return name.size() > kMost ? name.substr(0, kMost) + "..." : name;
}

// "CUDA_ERROR_ILLEGAL_ADDRESS (700): ..., in cuLaunchKernel of <kernel>", kept for the thread.
inline const char* describe_last(Code code) {
  LastError& last = last_error();
  last.words = cuda_loader_driver().describe(code);
  if (last.operation != nullptr) last.words += std::string(", in ") + last.operation;
  if (last.kernel != nullptr) last.words += " of " + shown_name(last.kernel);
  last.words += way_out(code);
  return last.words.c_str();
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
  if (configurations().push({grid, block, shared, stream})) return 0;
  noted(kInvalidValue, "__cudaPushCallConfiguration");
  return 1;
}
DL_KIT_LOADED int __cudaPopCallConfiguration(::dl::kit::cuda::Dim3* grid,
                                             ::dl::kit::cuda::Dim3* block, size_t* shared,
                                             ::dl::kit::cuda::Stream* stream) {
  using namespace ::dl::kit::cuda;
  const Configuration* one = configurations().pop();
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
DL_KIT_LOADED int cudaGetLastError() {
  return std::exchange(::dl::kit::cuda::last_error().code, ::dl::kit::cuda::kSuccess);
}
DL_KIT_LOADED const char* cudaGetErrorString(int code) {
  return ::dl::kit::cuda::describe_last(code);
}
DL_KIT_LOADED int cudaMemcpyAsync(void* to, const void* from, size_t bytes, int kind,
                                  ::dl::kit::cuda::Stream stream) {
  using namespace ::dl::kit::cuda;
  constexpr int kToHost = 2, kOnDevice = 3;
  return with_driver("cudaMemcpyAsync", nullptr, [&](::dl::kit::CudaDriver& driver) -> Code {
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
  return with_driver("cudaStreamSynchronize", nullptr, [&](::dl::kit::CudaDriver& driver) {
    return driver.stream_synchronize(stream);
  });
}

#undef DL_KIT_LOADED

#endif  // DL_KIT_CUDA_LOADER_H_
