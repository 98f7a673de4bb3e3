// Host code as hipcc generates it (registrations and stubs, written by hand) over the fake driver
// in FAKE_HIP, which runs the kernel.
#include "dl/kit/hip_loader.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include "../fakes/hip/emulated_image.h"
#include "check.h"

DL_KIT_BEGIN

HipDriver& hip_loader_driver() {
  static HipDriver driver({std::getenv("FAKE_HIP")});
  return driver;
}

DL_KIT_END

namespace kit = dl::kit;
namespace hip = dl::kit::hip;

namespace {

// The address of `stub` identifies a kernel in host code.
const char stub = 0;
const char kNameOfKernel[] = "_Z4reluPf";

std::atomic<int> runs{0}, waves{0};
const size_t kSizes[] = {sizeof(float*), sizeof(int)};

void run(const emulated::Image*, const emulated::Run* with) {
  float* to = *static_cast<float* const*>(with->arguments[0]);
  to[0] = static_cast<float>(*static_cast<const int*>(with->arguments[1]));
  runs += static_cast<int>(with->blocks);
  waves = with->wave;
}

const emulated::Image image{{'E', 'M', 'U', 'L', 'A', 'T', 'E', 'D'}, 64, 2, kSizes, run};
const hip::FatBinary binary{hip::FatBinary::kMagic, 1, &image, nullptr};
const hip::FatBinary broken{1, 1, &image, nullptr};

// The expansion of `<<<2, threads>>>(to, value)` and of the stub behind it.
int launch(float* to = nullptr, int value = 0, unsigned threads = 64) {
  if (__hipPushCallConfiguration({2, 1, 1}, {threads, 1, 1}, 0, nullptr) != 0) return -1;
  kit::Dim3 grid{}, block{};
  size_t shared = 1;
  hip::Stream stream = nullptr;
  if (__hipPopCallConfiguration(&grid, &block, &shared, &stream) != hip::kSuccess) return -2;
  CHECK(grid.x == 2 && block.x == threads && shared == 0);
  void* arguments[] = {&to, &value};
  return hipLaunchKernel(&stub, grid, block, arguments, shared, stream);
}

// Counts the logged calls of one function, or of all for null.
int calls(const char* function) {
  std::ifstream file(std::getenv("FAKE_HIP_CALLS"));
  int count = 0;
  for (std::string line; std::getline(file, line);)
    count += function == nullptr || line == function;
  return count;
}

void fail(const char* what) { setenv("FAKE_HIP_FAIL", what, 1); }

bool last_says(const char* text) {
  const int code = hipGetLastError();
  return code != hip::kSuccess && std::strstr(hipGetErrorString(code), text) != nullptr;
}

float* memory_of(int device) {
  CHECK(kit::hip_loader_driver().device_set(device) == hip::kSuccess);
  void* memory = nullptr;
  CHECK(kit::hip_loader_driver().memory_allocate(&memory, 16) == hip::kSuccess);
  return static_cast<float*>(memory);
}

}  // namespace

MAIN {
  setenv("FAKE_HIP_CALLS", (std::string(std::getenv("CHECK_FOLDER")) + "/hip_calls").c_str(), 1);
  setenv("FAKE_HIP_DEVICES", "gfx90a,gfx1030", 1);

  // A kernel that no constructor registered, and push and pop without a launch.
  CHECK(launch() == hip::kInvalidDeviceFunction && last_says("hipLaunchKernel"));
  CHECK(hipGetLastError() == hip::kSuccess);
  CHECK(__hipPopCallConfiguration(nullptr, nullptr, nullptr, nullptr) ==
        hip::kInvalidConfiguration);
  CHECK(last_says("__hipPopCallConfiguration"));

  // Registration by the constructor of a unit does not touch the driver.
  void** const handle = __hipRegisterFatBinary(&binary);
  __hipRegisterFunction(handle, &stub, nullptr, kNameOfKernel, 0, nullptr, nullptr, nullptr,
                        nullptr, nullptr);
  CHECK(calls("hipModuleLoadData") == 0);

  if (!kit::any_path({std::getenv("FAKE_HIP")})) {  // no driver is installed
    CHECK(launch() == hip::kNoDevice && last_says("hipGetDevice of relu(float*)"));
    CHECK(hipStreamSynchronize(nullptr) == hip::kNoDevice && last_says("hipStreamSynchronize"));
    __hipUnregisterFatBinary(handle);
    return;
  }

  // A failure is recorded for the thread, reported once, and tried again.
  float* const first = memory_of(0);
  fail("hipModuleLoadData:209");
  CHECK(launch(first) == hip::kNoBinaryForGpu);
  CHECK(last_says("in hipModuleLoadData of relu(float*); this library has no code for the device"));
  fail("hipModuleGetFunction:500");
  CHECK(launch(first) == hip::kNotFound && last_says("hipModuleGetFunction"));
  fail("");
  CHECK(runs == 0);
  CHECK(launch(first, 1) == hip::kSuccess && hipGetLastError() == hip::kSuccess);

  // A launch copies its arguments, and runs with them however late.
  CHECK(hipStreamSynchronize(nullptr) == hip::kSuccess && runs == 2 && waves == 64);
  float back = 0;
  CHECK(hipMemcpyAsync(&back, first, sizeof back, hip::kDeviceToHost, nullptr) == hip::kSuccess);
  CHECK(hipStreamSynchronize(nullptr) == hip::kSuccess && back == 1);
  CHECK(launch(first, 1, 32) == hip::kInvalidConfiguration && last_says("hipModuleLaunchKernel"));

  // Code is loaded once for each device, whichever thread is first: all start together.
  std::vector<std::thread> threads;
  std::atomic<int> missing{8};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i, &missing] {
      float* const mine = memory_of(i % 2);
      for (missing.fetch_sub(1); missing.load() > 0;) std::this_thread::yield();
      CHECK(launch(mine, i) == hip::kSuccess);
      float value = -1;
      CHECK(hipMemcpyAsync(&value, mine, sizeof value, hip::kDeviceToHost, nullptr) == 0);
      CHECK(hipStreamSynchronize(nullptr) == hip::kSuccess && value == static_cast<float>(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(calls("hipModuleLoadData") == 3 && calls("hipModuleGetFunction") == 3);
  CHECK(runs == 18);

  // Memory of another device, or of the host, is not valid on this one.
  CHECK(hipMemsetAsync(first, 7, 16, nullptr) == hip::kSuccess);
  CHECK(kit::hip_loader_driver().device_set(1) == hip::kSuccess);
  CHECK(hipMemsetAsync(first, 7, 16, nullptr) == hip::kInvalidValue && last_says("hipMemsetAsync"));
  CHECK(hipMemcpyAsync(&back, first, sizeof back, hip::kDeviceToHost, nullptr) != hip::kSuccess);
  CHECK(last_says("hipMemcpyAsync"));

  // An image that is not device code.
  static const char other = 0;
  __hipRegisterFunction(__hipRegisterFatBinary(&broken), &other, nullptr, "broken", 0, nullptr,
                        nullptr, nullptr, nullptr, nullptr);
  CHECK(hipLaunchKernel(&other, {1, 1, 1}, {64, 1, 1}, nullptr, 0, nullptr) == hip::kInvalidImage);

  // The device is lost; then the library is closed, without a call of the driver.
  fail("hipModuleLaunchKernel:700");
  CHECK(launch(first) == 700 && last_says("must be restarted"));
  const int before = calls(nullptr);
  __hipUnregisterFatBinary(handle);
  CHECK(calls(nullptr) == before);
}
