// Device code that a library carries: what the compiler's constructors report while the library is
// loaded, long before anybody asks for a device. Nothing here knows CUDA or HIP; a loader
// (cuda_loader.h) makes of it what its driver wants.
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

// The device code of one unit. `loaded` is the driver's handle, null until a kernel of it runs.
struct CodeImage {
  const void* data;
  void* loaded = nullptr;
  pid_t loader = 0;  // the process that loaded it: a child that was forked may not unload it
};

// A kernel, by the stub that host code calls in its place.
struct EmbeddedKernel {
  EmbeddedKernel(CodeImage* its_image, const char* its_name) : image(its_image), name(its_name) {}

  CodeImage* const image;
  const char* const name;
  std::atomic<void*> loaded{nullptr};
};

// All of this library. Hidden, as all of the kit, so that two libraries have one each.
class EmbeddedCode {
 public:
  // Made by the first constructor that reports something, so that it is there before any other, and
  // outlives all of their counterparts.
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

  // Null for what no constructor has reported. Addresses stay as long as the library.
  EmbeddedKernel* kernel(const void* stub) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = kernels_.find(stub);
    return found == kernels_.end() ? nullptr : &found->second;
  }

  // Held while an image is being loaded, which may take seconds: it happens once.
  std::mutex& loading() { return loading_; }

 private:
  std::mutex mutex_, loading_;
  std::deque<CodeImage> images_;
  std::unordered_map<const void*, EmbeddedKernel> kernels_;
};

DL_KIT_END

#endif  // DL_KIT_EMBEDDED_CODE_H_
