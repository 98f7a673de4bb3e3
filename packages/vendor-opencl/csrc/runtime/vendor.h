// The vendor's class: dl::kit::Runtime provides the table.
#ifndef DL_OPENCL_RUNTIME_VENDOR_H_
#define DL_OPENCL_RUNTIME_VENDOR_H_

#include <cstdint>
#include <string>

#include "dl/kernel.h"
#include "dl/kit/modules.h"
#include "dl/kit/runtime.h"
#include "program/kernel.h"
#include "runtime/api.h"

namespace dl::opencl {

// A function of code that was loaded through the kernel extension.
struct LoadedFunction;

class Vendor : public kit::Runtime<Api> {
 public:
  static constexpr const char* kName = "opencl";
  static constexpr const char* kVersion = DL_OPENCL_VERSION;
  static constexpr const char* kDevicesFrom = "DL_OPENCL_DRIVER and OCL_ICD_VENDORS";

  Vendor();
  ~Vendor();

  kit::Operators operators();
  static dl_extension_t* extensions();

  // The kernel extension (dl/kernel.h).
  dl_kernel_properties_t kernel_properties(int32_t device);
  dl_kernel_code_t* kernel_compile(int32_t device, const dl_kernel_source_t* source);
  void* kernel_load(int32_t device, const void* bytes, uint64_t size);
  void kernel_unload(int32_t device, void* module);
  void* kernel_find(int32_t device, void* module, const char* name);
  dl_kernel_function_properties_t kernel_function_properties(int32_t device, void* function);
  void kernel_launch(int32_t device, void* function, const dl_kernel_launch_t* launch);

  // The identity of measured choices (dl/choices.h).
  std::string choice_identity(int32_t device);

 private:
  kit::Modules<ProgramReference, LoadedFunction> modules_;
};

}  // namespace dl::opencl

#endif  // DL_OPENCL_RUNTIME_VENDOR_H_
