// Compiled kernels, loaded from memory.
#ifndef DL_CPU_EXTENSIONS_MODULE_H_
#define DL_CPU_EXTENSIONS_MODULE_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "extensions/cpu_kernel.h"
#include "extensions/file.h"

namespace dl::cpu {

// Return the bytes that `compile` returns: a library and, after its end, where the loader does not
// look, its target and the stack usage of its functions.
std::string packed_code(std::string library, const std::string& stack_usage);

struct Function {
  std::string name;
  CpuKernel code;
  int64_t stack_bytes;  // -1 if unknown
  int64_t code_bytes;
};

class Module {
 public:
  // Throws Error for bytes that packed_code did not create, or that were compiled for another
  // processor.
  explicit Module(std::string_view bytes);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Return the same function for the same name, as long as the module exists. Throws Error if there
  // is none.
  Function& find(const std::string& name);

 private:
  void load(std::string_view library);

  // Open as long as the library is loaded: the loader identifies it by the descriptor.
  Descriptor file_;
  std::string path_;
  void* library_ = nullptr;
  std::string stack_usage_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Function>> functions_;
};

}  // namespace dl::cpu

#endif  // DL_CPU_EXTENSIONS_MODULE_H_
