// Host code as nvcc generates it (registrations and stubs, written by hand) over the simulated
// driver in FAKE_CUDA, which is dl-gpu-sim's.
#include "dl/kit/cuda_loader.h"

#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "check.h"

DL_KIT_BEGIN

CudaDriver& cuda_loader_driver() {
  static CudaDriver driver({std::getenv("FAKE_CUDA")});
  return driver;
}

DL_KIT_END

namespace kit = dl::kit;
namespace cuda = dl::kit::cuda;

namespace {

// The address of `stub` identifies a kernel in host code.
const char stub = 0;
const char kNameOfKernel[] = "_Z4reluPf";
const char kCode[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry _Z4reluPf() { ret; }";
cuda::FatBinary binary{cuda::FatBinary::kMagic, 1, kCode, nullptr};

// The expansion of `<<<1, 32>>>` and of the stub behind it.
int launch() {
  if (__cudaPushCallConfiguration({1, 1, 1}, {32, 1, 1}, 0, nullptr) != 0) return -1;
  cuda::Dim3 grid{}, block{};
  size_t shared = 1;
  cuda::Stream stream = nullptr;
  if (__cudaPopCallConfiguration(&grid, &block, &shared, &stream) != cuda::kSuccess) return -2;
  CHECK(grid.x == 1 && block.x == 32 && shared == 0);
  kit::EmbeddedKernel* kernel = nullptr;
  if (__cudaGetKernel(&kernel, &stub) != cuda::kSuccess) return -3;
  return __cudaLaunchKernel(kernel, grid, block, nullptr, shared, stream);
}

bool has_driver() { return kit::any_path({std::getenv("FAKE_CUDA")}); }

unsigned long long calls(const char* function) {
  static kit::Symbol<unsigned long long (*)(const char*)> count{kit::cuda_loader_driver(),
                                                                "dl_gpu_sim_calls"};
  return has_driver() ? count(function) : 0;
}

void fail(const char* what) { setenv("DL_GPU_SIM_FAIL", what, 1); }

bool last_says(const char* text) {
  const int code = cudaGetLastError();
  return code != cuda::kSuccess && std::strstr(cudaGetErrorString(code), text) != nullptr;
}

void make_current() {
  cuda::Context context = nullptr;
  CHECK(kit::cuda_loader_driver().init(0) == cuda::kSuccess);
  CHECK(kit::cuda_loader_driver().primary_context_retain(&context, 0) == cuda::kSuccess);
  CHECK(kit::cuda_loader_driver().context_set(context) == cuda::kSuccess);
}

}  // namespace

MAIN {
  // A kernel that no constructor registered, and push and pop without a launch.
  CHECK(launch() == -3 && last_says("__cudaGetKernel"));
  CHECK(cudaGetLastError() == cuda::kSuccess);
  CHECK(__cudaPopCallConfiguration(nullptr, nullptr, nullptr, nullptr) == cuda::kInvalidValue);
  CHECK(last_says("__cudaPopCallConfiguration"));

  // Registration by the constructor of a unit does not touch the driver.
  void** const image = __cudaRegisterFatBinary(&binary);
  __cudaRegisterFunction(image, &stub, nullptr, kNameOfKernel, -1, nullptr, nullptr, nullptr,
                         nullptr, nullptr);
  __cudaRegisterFatBinaryEnd(image);
  CHECK(calls("cuLibraryLoadData") == 0);

  if (!has_driver()) {
    CHECK(launch() == cuda::kNoDevice && last_says("cuLibraryLoadData"));
    CHECK(cudaStreamSynchronize(nullptr) == cuda::kNoDevice && last_says("cudaStreamSynchronize"));
    __cudaUnregisterFatBinary(image);
    return;
  }

  // A failure is recorded for the thread, reported once, and tried again.
  make_current();
  fail("cuLibraryLoadData=209");
  CHECK(launch() == cuda::kNoBinaryForGpu);
  CHECK(last_says("in cuLibraryLoadData of relu(float*); this library has no code for the device"));
  fail("cuLibraryGetKernel=500");
  CHECK(launch() == cuda::kNotFound && last_says("cuLibraryGetKernel"));
  fail("");
  CHECK(launch() == cuda::kSuccess && cudaGetLastError() == cuda::kSuccess);

  // Code is loaded once, whichever thread is first.
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([] {
      make_current();
      CHECK(launch() == cuda::kSuccess);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(calls("cuLibraryLoadData") == 2 && calls("cuLaunchKernel") == 9);
  CHECK(cudaLaunchKernel(&stub, {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr) == cuda::kSuccess);

  // Attributes of a kernel's code.
  cuda::FunctionAttributes found{};
  CHECK(cudaFuncGetAttributes(&found, &stub) == cuda::kSuccess);
  CHECK(found.ptx_version == 75 && found.binary_version == 80);
  CHECK(cudaFuncGetAttributes(&found, &kCode) != cuda::kSuccess);
  CHECK(last_says("cudaFuncGetAttributes"));
  fail("cuKernelGetAttribute=1");
  CHECK(cudaFuncGetAttributes(&found, &stub) == 1 && last_says("cuKernelGetAttribute of relu"));
  fail("");

  // Nested pushes and pops, and too many of them.
  for (int i = 0; i < 8; ++i)
    CHECK(__cudaPushCallConfiguration({1, 1, 1}, {1, 1, 1}, 0, nullptr) == 0);
  CHECK(__cudaPushCallConfiguration({1, 1, 1}, {1, 1, 1}, 0, nullptr) != 0);
  CHECK(last_says("__cudaPushCallConfiguration"));
  for (int i = 0; i < 8; ++i) {
    cuda::Dim3 grid{}, block{};
    size_t shared = 0;
    cuda::Stream stream = nullptr;
    CHECK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream) == cuda::kSuccess);
  }

  // Device memory, and errors of operations on it.
  cuda::Address memory = 0;
  CHECK(kit::cuda_loader_driver().memory_allocate(&memory, 16) == cuda::kSuccess);
  void* const device = reinterpret_cast<void*>(memory);
  char back[16] = {};
  CHECK(cudaMemsetAsync(device, 7, 16, nullptr) == cuda::kSuccess);
  CHECK(cudaMemcpyAsync(back, device, 16, 2, nullptr) == cuda::kSuccess && back[15] == 7);
  CHECK(cudaMemcpyAsync(device, back, 16, 1, nullptr) == cuda::kInvalidValue);
  CHECK(last_says("cudaMemcpyAsync"));
  // A failure that was described without being taken counts as reported, too.
  const int code = cudaMemcpyAsync(device, back, 16, 1, nullptr);
  CHECK(std::strstr(cudaGetErrorString(code), "cudaMemcpyAsync") != nullptr);
  CHECK(cudaGetLastError() == cuda::kSuccess);
  CHECK(cudaStreamSynchronize(nullptr) == cuda::kSuccess);
  CHECK(kit::cuda_loader_driver().memory_free(memory) == cuda::kSuccess);

  // Closing the library unloads its code; then the device is lost.
  fail("cuLaunchKernel=700");
  CHECK(launch() == 700 && last_says("must be restarted"));
  __cudaUnregisterFatBinary(image);
  CHECK(calls("cuLibraryUnload") == 1);
}
