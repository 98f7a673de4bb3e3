// Launches of emulated kernels through the entry points of a library's loader
// (dl/kit/hip_loader.h), and so through the fake driver. The header of the emulated GPU in
// dl-kernels' tests includes this in place of a queue of its own.
#ifndef FAKE_HIP_EMULATED_LAUNCH_H_
#define FAKE_HIP_EMULATED_LAUNCH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "dl/kit/hip_driver.h"
#include "dl/kit/launch_loader.h"
#include "emulated_image.h"

// Called by hipcc's host code and by dl-kernels; defined in hip_loader.h.
extern "C" {
void** __hipRegisterFatBinary(const void* wrapper);
void __hipRegisterFunction(void** handle, const void* stub, char* device_name, const char* name,
                           unsigned, void*, void*, void*, void*, int*);
int hipLaunchKernel(const void* stub, dl::kit::Dim3 grid, dl::kit::Dim3 block, void** arguments,
                    size_t shared, dl::kit::hip::Stream stream);
int hipGetLastError();
const char* hipGetErrorString(int code);
int hipMemcpyAsync(void* to, const void* from, size_t bytes, int kind, dl::kit::hip::Stream stream);
int hipMemsetAsync(void* to, int value, size_t bytes, dl::kit::hip::Stream stream);
int hipStreamSynchronize(dl::kit::hip::Stream stream);
}

namespace emulated {

// Data that hipcc emits for each unit and that its constructor registers.
struct FatBinary {
  unsigned magic, version;
  const void* data;
  void* unused;
};

using Threads = void (*)(int64_t blocks, const std::function<void()>& thread);

// Static data of a kernel. Its type generates as little code as possible, because there are
// thousands.
struct Kernel {
  void (*function)();
  void (*call)(void (*function)(), void* const* arguments);
  const size_t* sizes;  // sizes of the arguments
  unsigned count;
  Threads threads;
};

struct Reported {
  Image image;
  Kernel kernel;
  FatBinary binary;
};

// The device runs one kernel at a time, because the emulation has one set of threads.
inline void run(const Image* image, const Run* with) {
  static std::mutex one_at_a_time;
  // The image is the first member.
  const Kernel& kernel = reinterpret_cast<const Reported*>(image)->kernel;
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  emulation::set_warp_threads(with->wave);
  kernel.threads(with->blocks, [&] { kernel.call(kernel.function, with->arguments); });
}

// Registers a kernel on its first launch, as constructors register hipcc's kernels.
inline void report(const Kernel& kernel) {
  static std::mutex mutex;
  // Never destroyed: devices may still be running when the process exits.
  static auto& all = *new std::map<void (*)(), Reported>;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [at, fresh] = all.try_emplace(kernel.function);
  if (!fresh) return;
  Reported& made = at->second;
  made.kernel = kernel;
  for (size_t i = 0; i < sizeof kMagic; ++i) made.image.magic[i] = kMagic[i];
  made.image.threads = emulation::kBlockThreads;
  made.image.count = kernel.count;
  made.image.sizes = kernel.sizes;
  made.image.run = run;
  made.binary = {0x48495046, 1, &made.image, nullptr};
  __hipRegisterFunction(__hipRegisterFatBinary(&made.binary),
                        reinterpret_cast<void*>(kernel.function), nullptr, "an emulated kernel", 0,
                        nullptr, nullptr, nullptr, nullptr, nullptr);
}

inline dl::kit::hip::Stream stream_of(void* stream) {
  return static_cast<dl::kit::hip::Stream>(stream);
}

inline void check(int status, const char* what) {
  if (status == 0) return;
  throw std::runtime_error(std::string(what) + ": " + hipGetErrorString(status));
}

inline void launch(void* stream, int64_t blocks, const Kernel& kernel, void** arguments) {
  report(kernel);
  (void)hipLaunchKernel(reinterpret_cast<void*>(kernel.function),
                        {static_cast<unsigned>(blocks), 1, 1}, {emulation::kBlockThreads, 1, 1},
                        arguments, 0, stream_of(stream));
  check(hipGetLastError(), "a kernel could not be launched");
}

template <class... P, size_t... I>
void call_with(void (*function)(), void* const* arguments, std::index_sequence<I...>) {
  reinterpret_cast<void (*)(P...)>(function)(*static_cast<P*>(arguments[I])...);
}
template <class... P>
void call(void (*function)(), void* const* arguments) {
  call_with<P...>(function, arguments, std::index_sequence_for<P...>{});
}

template <class... P>
void launch(void* stream, int64_t blocks, Threads threads, void (*kernel)(P...), P... arguments) {
  static constexpr size_t kSizes[] = {sizeof(P)..., 0};
  void* pointers[] = {&arguments..., nullptr};
  launch(stream, blocks,
         {reinterpret_cast<void (*)()>(kernel), &call<P...>, kSizes, sizeof...(P), threads},
         pointers);
}

}  // namespace emulated

DL_KERNELS_BEGIN

namespace gpu {

// Threads that meet at barriers.
template <class... P, class... A>
void run_blocks(Stream stream, int64_t blocks, void (*kernel)(P...), const A&... arguments) {
  emulated::launch<P...>(stream, blocks, &emulation::run_fibers, kernel,
                         static_cast<P>(arguments)...);
}

// Independent threads.
template <class... P, class... A>
void run_threads(Stream stream, int64_t blocks, void (*kernel)(P...), const A&... arguments) {
  emulated::launch<P...>(stream, blocks, &emulation::run_in_turn, kernel,
                         static_cast<P>(arguments)...);
}

inline void copy(Stream stream, void* to, const void* from, size_t bytes) {
  emulated::check(
      hipMemcpyAsync(to, from, bytes, dl::kit::hip::kDeviceToDevice, emulated::stream_of(stream)),
      "a copy on the device failed");
}

inline void clear(Stream stream, void* to, size_t bytes) {
  emulated::check(hipMemsetAsync(to, 0, bytes, emulated::stream_of(stream)),
                  "memory of the device could not be cleared");
}

// Copies to host memory and waits.
inline void fetch(Stream stream, void* to, const void* from, size_t bytes) {
  emulated::check(
      hipMemcpyAsync(to, from, bytes, dl::kit::hip::kDeviceToHost, emulated::stream_of(stream)),
      "a result could not be read from the device");
  emulated::check(hipStreamSynchronize(emulated::stream_of(stream)), "waiting for a result failed");
}

}  // namespace gpu

DL_KERNELS_END

#endif  // FAKE_HIP_EMULATED_LAUNCH_H_
