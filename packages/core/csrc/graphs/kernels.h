// Kernels of graph compilers and programs: the vendor compiles source text and launches the
// functions, through its kernel extension (dl/kernel.h).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
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

// Loaded machine code. Thread-safe.
class KernelModule {
 public:
  KernelModule(int device, const std::string& code);
  // Waits for the device: no enqueued work may use the module.
  ~KernelModule();
  KernelModule(const KernelModule&) = delete;
  KernelModule& operator=(const KernelModule&) = delete;

  // Throws c10::Error if the code has no such function.
  [[nodiscard]] void* find(const std::string& function) const;

 private:
  int device_;
  void* module_ = nullptr;
};

// A position in the packed arguments of a launch.
struct KernelArgument {
  uint32_t offset;
  uint32_t size;
  bool is_memory;  // a device address, or 0
};

// A function that is launched with any grid and arguments. Thread-safe.
class KernelFunction {
 public:
  KernelFunction(int device, const std::string& code, const std::string& name);

  // Enqueues the function on the thread's current stream of its device. `arguments` is 16-byte
  // aligned.
  void launch(const std::array<uint32_t, 3>& grid, const std::array<uint32_t, 3>& block,
              uint64_t shared_bytes, const void* arguments, uint64_t argument_bytes,
              const std::vector<KernelArgument>& layout) const;

 private:
  int device_;
  KernelModule module_;
  void* function_;
};

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
  KernelModule module_;
  std::vector<Launch> launches_;
};

}  // namespace dl::core
