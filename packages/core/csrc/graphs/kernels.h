// Kernels of a graph compiler: the vendor compiles source text and launches the functions on
// tensor addresses, through its kernel extension (dl/kernel.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dl::core {

// Languages that a device can compile; if there are none, the reason.
struct KernelLanguages {
  std::string languages;  // separated by commas; empty: none
  std::string unavailable;
};
KernelLanguages kernel_languages(int device);

// Returns machine code for the device. Throws c10::Error with the compiler's log.
std::string compile_kernels(int device, const std::string& language, const std::string& name,
                            const std::string& text, const std::vector<std::string>& options,
                            double seconds);

// A function of the module, its grid and block size, and its arguments as indices into the list of
// addresses that is passed to run().
struct KernelLaunch {
  std::string function;
  uint32_t blocks;
  uint32_t threads;
  std::vector<size_t> places;
};

// A loaded module and its launches, in the order in which run() enqueues them. Thread-safe.
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
