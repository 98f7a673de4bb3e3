// What loaders of device code have in common (cuda_loader.h, hip_loader.h): what stands between
// `kernel<<<...>>>` and the driver's call, and failures, which the stubs in host code drop.
#ifndef DL_KIT_LAUNCH_LOADER_H_
#define DL_KIT_LAUNCH_LOADER_H_

#include <cxxabi.h>

#include <cstddef>
#include <cstdlib>
#include <string>

#include "dl/kit/base.h"
#include "dl/kit/embedded_code.h"
#include "dl/kit/status.h"

DL_KIT_BEGIN

// As the headers of both have it: the size of a grid, or a block.
struct Dim3 {
  unsigned x, y, z;
};

// What the brackets of a launch leave for the stub that follows. Arguments are evaluated between
// the two and may launch kernels themselves.
template <class Stream>
struct LaunchConfiguration {
  Dim3 grid, block;
  size_t shared;
  Stream stream;
};
template <class Stream>
class LaunchConfigurations {
 public:
  // Those of the thread.
  static LaunchConfigurations& here() {
    thread_local LaunchConfigurations stack;
    return stack;
  }

  bool push(const LaunchConfiguration<Stream>& one) {
    if (depth_ == kDeepest) return false;
    stack_[depth_++] = one;
    return true;
  }
  const LaunchConfiguration<Stream>* pop() { return depth_ == 0 ? nullptr : &stack_[--depth_]; }

 private:
  static constexpr int kDeepest = 8;
  LaunchConfiguration<Stream> stack_[kDeepest];
  int depth_ = 0;
};

// The demangled name of a kernel, as much of it as one reads.
inline std::string shown_kernel(const char* mangled) {
  constexpr size_t kMost = 160;
  int status = 0;
  char* const plain = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string name = plain == nullptr ? mangled : plain;
  std::free(plain);
  return name.size() > kMost ? name.substr(0, kMost) + "..." : name;
}

// The last failure of a thread, until somebody takes it. `Machine` has the driver: driver(), which
// has describe(int), way_out(int), and kNoDevice. Errors are numbers, 0 for none.
template <class Machine>
class LaunchErrors {
 public:
  static LaunchErrors& here() {
    thread_local LaunchErrors errors;
    return errors;
  }

  // The result of a driver's call, noted if it is a failure. `operation` is a literal.
  int noted(int code, const char* operation, const EmbeddedKernel* kernel = nullptr) {
    if (code == 0) return code;
    code_ = code;
    operation_ = operation;
    kernel_ = kernel == nullptr ? nullptr : kernel->name;
    return code;
  }

  // Runs `call(driver)`. Where there is no driver, there is no device.
  template <class Call>
  int with_driver(const char* operation, const EmbeddedKernel* kernel, const Call& call) {
    try {
      return noted(call(Machine::driver()), operation, kernel);
    } catch (const Error&) {
      return noted(Machine::kNoDevice, operation, kernel);
    }
  }

  int last() const { return code_; }
  int take() {
    const int code = code_;
    code_ = 0;
    return code;
  }

  // "CUDA_ERROR_ILLEGAL_ADDRESS (700): ..., in cuLaunchKernel of <kernel>", kept for the thread.
  // A failure that was put in words is told, and the next launch is not blamed for it.
  const char* describe(int code) {
    if (code == code_) code_ = 0;
    words_ = Machine::driver().describe(code);
    if (operation_ != nullptr) words_ += std::string(", in ") + operation_;
    if (kernel_ != nullptr) words_ += " of " + shown_kernel(kernel_);
    words_ += Machine::way_out(code);
    return words_.c_str();
  }

 private:
  int code_ = 0;
  const char* operation_ = nullptr;
  const char* kernel_ = nullptr;
  std::string words_;
};

DL_KIT_END

#endif  // DL_KIT_LAUNCH_LOADER_H_
