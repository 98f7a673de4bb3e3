// Kernels of a graph compiler: text that a vendor compiles, and functions that run on the addresses
// of tensors, by its kernel extension (dl/kernel.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dl::core {

// The languages that a device compiles and, where it compiles none, why.
struct KernelLanguages {
  std::string languages;  // separated by commas; empty: none
  std::string unavailable;
};
KernelLanguages kernel_languages(int device);

// Code for the device. Throws c10::Error with the compiler's log.
std::string compile_kernels(int device, const std::string& language, const std::string& name,
                            const std::string& text, const std::vector<std::string>& options,
                            double seconds);

// A function of the code, its blocks, the threads of each, and which of the addresses of a run it
// gets.
struct KernelLaunch {
  std::string function;
  uint32_t blocks;
  uint32_t threads;
  std::vector<size_t> places;
};

// Code on a device, and the launches of a run in their order. Any thread may run it.
class KernelProgram {
 public:
  KernelProgram(int device, const std::string& code, const std::vector<KernelLaunch>& launches,
                size_t addresses);
  ~KernelProgram();
  KernelProgram(const KernelProgram&) = delete;
  KernelProgram& operator=(const KernelProgram&) = delete;

  // Enqueues all on the thread's current stream.
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
