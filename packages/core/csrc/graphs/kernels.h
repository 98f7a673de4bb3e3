// Kernels of a graph compiler: source text that a vendor compiles, and functions that run on the
// addresses of tensors, by the vendor's kernel extension (dl/kernel.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dl::core {

// Languages that a device compiles or, if there are none, the reason.
struct KernelLanguages {
  std::string languages;  // separated by commas; empty: none
  std::string unavailable;
};
KernelLanguages kernel_languages(int device);

// Returns machine code for the device. Throws c10::Error with the compiler's log.
std::string compile_kernels(int device, const std::string& language, const std::string& name,
                            const std::string& text, const std::vector<std::string>& options,
                            double seconds);

// A function of the module, its grid and block size, and the indices of its arguments among the
// addresses of a run.
struct KernelLaunch {
  std::string function;
  uint32_t blocks;
  uint32_t threads;
  std::vector<size_t> places;
};

// A loaded module, and the launches of a run in order. Thread-safe.
class KernelProgram {
 public:
  KernelProgram(int device, const std::string& code, const std::vector<KernelLaunch>& launches,
                size_t addresses);
  ~KernelProgram();
  KernelProgram(const KernelProgram&) = delete;
  KernelProgram& operator=(const KernelProgram&) = delete;

  // Enqueues all launches on the thread's current stream.
  void run(const std::vector<uint64_t>& addresses) const;

 private:
  struct Launch {
    void* function;
    uint32_t blocks;
    uint32_t threads;
    std::vector<size_t> places;
  };

  int device_;
  size_t addresses_;
  void* module_ = nullptr;
  std::vector<Launch> launches_;
};

}  // namespace dl::core
