// The vendor's class: dl::kit::Runtime provides the table, and mixins provide the extensions.
#ifndef DL_ASCEND_RUNTIME_VENDOR_H_
#define DL_ASCEND_RUNTIME_VENDOR_H_

#include <cstdint>
#include <map>

#include "dl/kernel.h"
#include "dl/kit/communicator_call.h"
#include "dl/kit/graph.h"
#include "dl/kit/modules.h"
#include "dl/kit/runtime.h"
#include "extensions/hccl_communicator.h"
#include "extensions/tracer.h"
#include "operators/library.h"
#include "runtime/api.h"

namespace dl::ascend {

using Base = kit::HoldingCommunicators<kit::Capturing<kit::Runtime<Api>>, HcclCommunicator>;

// Code loaded through the kernel extension, and a function of it.
struct LoadedBinary;
struct LoadedFunction;

class Vendor : public Base {
 public:
  static constexpr const char* kName = "ascend";
  static constexpr const char* kVersion = DL_ASCEND_VERSION;
  static constexpr const char* kDevicesFrom = "ASCEND_RT_VISIBLE_DEVICES";

  Vendor();
  ~Vendor();

  kit::Operators operators();
  static dl_extension_t* extensions();
  // The functions that compute the operators, for the generated code.
  kit::library::Backend& operator_library(diopiContextHandle_t) { return library_.backend(); }

  // The runtime copies on the device only between aligned addresses.
  void memory_copy(int32_t device, void* to, const void* from, uint64_t bytes, int32_t kind,
                   void* stream);

  // The kernel extension (dl/kernel.h): Ascend C, compiled by CANN's runtime compiler.
  dl_kernel_properties_t kernel_properties(int32_t device);
  dl_kernel_code_t* kernel_compile(int32_t device, const dl_kernel_source_t* source);
  void* kernel_load(int32_t device, const void* bytes, uint64_t size);
  void kernel_unload(int32_t device, void* module);
  void* kernel_find(int32_t device, void* module, const char* name);
  dl_kernel_function_properties_t kernel_function_properties(int32_t device, void* function);
  void kernel_launch(int32_t device, void* function, const dl_kernel_launch_t* launch);

  // HCCL, one per process, opened by the first communicator.
  hccl::Library& hccl();
  // Members for dl/kit/communicator_id.h.
  hccl::RootInfo new_communicator_id();
  void* join_communicator(int32_t device, const hccl::RootInfo& id, int32_t ranks, int32_t rank,
                          double seconds);

  // Members for dl/kit/profiler.h. Streams are not identified.
  static Recorder& recorder() { return Recorder::here(); }
  static int traced_device(int32_t device) { return device; }
  static std::map<uint32_t, void*> traced_streams(int32_t) { return {}; }

 private:
  void copy_through_host(int32_t device, void* to, const void* from, uint64_t bytes, void* stream);

  OperatorLibrary library_{take_error_text};
  kit::Modules<LoadedBinary, LoadedFunction> modules_;
};

}  // namespace dl::ascend

#endif  // DL_ASCEND_RUNTIME_VENDOR_H_
