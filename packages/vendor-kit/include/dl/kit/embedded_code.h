// Registry of the device code embedded in a library. The compiler's constructors register it while
// the library is loaded, long before a device is used. Nothing here depends on CUDA or HIP; a
// loader (cuda_loader.h) passes the code to its driver.
#ifndef DL_KIT_EMBEDDED_CODE_H_
#define DL_KIT_EMBEDDED_CODE_H_

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "dl/kit/base.h"

DL_KIT_BEGIN

// The device code of one unit. `loaded` is the driver's handle, null until one of its kernels runs.
struct CodeImage {
  const void* data;
  void* loaded = nullptr;
  pid_t loader = 0;  // the process that loaded it: a forked child must not unload it
};

// A kernel, identified by its host stub.
struct EmbeddedKernel {
  EmbeddedKernel(CodeImage* its_image, const char* its_name) : image(its_image), name(its_name) {}

  CodeImage* const image;
  const char* const name;
  std::atomic<void*> loaded{nullptr};
};

// The code of this library. Hidden, like the whole kit, so that each library has its own.
class EmbeddedCode {
 public:
  // Created by the first constructor that registers code, so it is initialized before use and
  // outlives all destructors that unregister code.
  static EmbeddedCode& here() {
    static EmbeddedCode code;
    return code;
  }

  CodeImage* add_image(const void* data) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return &images_.emplace_back(CodeImage{data});
  }
  void add_kernel(CodeImage* image, const void* stub, const char* name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    kernels_.try_emplace(stub, image, name);
  }

  // Returns null for a stub that no constructor registered. Addresses are valid as long as the
  // library is loaded.
  EmbeddedKernel* kernel(const void* stub) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = kernels_.find(stub);
    return found == kernels_.end() ? nullptr : &found->second;
  }

  // Locked while an image is loaded, which may take seconds but happens once.
  std::mutex& loading() { return loading_; }

 private:
  std::mutex mutex_, loading_;
  std::deque<CodeImage> images_;
  std::unordered_map<const void*, EmbeddedKernel> kernels_;
};

DL_KIT_END

#endif  // DL_KIT_EMBEDDED_CODE_H_
