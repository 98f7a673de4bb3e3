// Shared code of the loaders of device code (cuda_loader.h, hip_loader.h): the launch configuration
// between `kernel<<<...>>>` and the driver's call, and launch failures, which host stubs ignore.
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

// Size of a grid or block, as in CUDA's and HIP's headers.
struct Dim3 {
  unsigned x, y, z;
};

// Launch configurations for the stubs that follow. Arguments are evaluated between push and pop,
// and may launch kernels themselves.
template <class Stream>
struct LaunchConfiguration {
  Dim3 grid, block;
  size_t shared;
  Stream stream;
};
template <class Stream>
class LaunchConfigurations {
 public:
  // The configurations of the calling thread.
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

// The demangled name of a kernel, shortened for messages.
inline std::string readable_name(const char* mangled) {
  constexpr size_t kMost = 160;
  int status = 0;
  char* const plain = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string name = plain == nullptr ? mangled : plain;
  std::free(plain);
  return name.size() > kMost ? name.substr(0, kMost) + "..." : name;
}

// The last failure of a thread, until it is taken. `Machine` has the driver: driver(), with
// describe(int) and remedy(int), and kNoDevice. Errors are integers, 0 for success.
template <class Machine>
class LaunchErrors {
 public:
  static LaunchErrors& here() {
    thread_local LaunchErrors errors;
    return errors;
  }

  // Records the result of a driver call if it is a failure, and returns it. `operation` is a
  // literal.
  int record(int code, const char* operation, const EmbeddedKernel* kernel = nullptr) {
    if (code == 0) return code;
    code_ = code;
    operation_ = operation;
    kernel_ = kernel == nullptr ? nullptr : kernel->name;
    return code;
  }

  // Runs `call(driver)`. A missing driver counts as a missing device.
  template <class Call>
  int with_driver(const char* operation, const EmbeddedKernel* kernel, const Call& call) {
    try {
      return record(call(Machine::driver()), operation, kernel);
    } catch (const Error&) {
      return record(Machine::kNoDevice, operation, kernel);
    }
  }

  int last() const { return code_; }
  int take() {
    const int code = code_;
    code_ = 0;
    return code;
  }

  // Returns "CUDA_ERROR_ILLEGAL_ADDRESS (700): ..., in cuLaunchKernel of <kernel>", valid until the
  // thread's next call. A described failure counts as reported: the next launch does not report it
  // again.
  const char* describe(int code) {
    if (code == code_) code_ = 0;
    words_ = Machine::driver().describe(code);
    if (operation_ != nullptr) words_ += std::string(", in ") + operation_;
    if (kernel_ != nullptr) words_ += " of " + readable_name(kernel_);
    words_ += Machine::remedy(code);
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
