// The vendor's class: dl::kit::Runtime provides the table, and mixins provide the extensions.
#ifndef DL_ROCM_RUNTIME_VENDOR_H_
#define DL_ROCM_RUNTIME_VENDOR_H_

#include <cstdint>
#include <map>

#include "dl/kit/communicator.h"
#include "dl/kit/graph.h"
#include "dl/kit/kernel.h"
#include "dl/kit/runtime.h"
#include "extensions/tracer.h"
#include "runtime/api.h"

namespace dl::rocm {

using Base = kit::Communicating<kit::LaunchingKernels<kit::Capturing<kit::Runtime<Api>>>>;

class Vendor : public Base {
 public:
  static constexpr const char* kName = "rocm";
  static constexpr const char* kVersion = DL_ROCM_VERSION;
  static constexpr const char* kDevicesFrom = "HIP_VISIBLE_DEVICES";

  kit::Operators operators();
  static dl_extension_t* extensions();

  // One per process, opened by the first communicator.
  kit::Nccl& nccl();

  // Members for dl/kit/profiler.h. The tracer does not identify streams.
  static Recorder& recorder() { return Recorder::here(); }
  static int traced_device(int32_t device) { return Devices::here().device(device); }
  static std::map<uint32_t, void*> traced_streams(int32_t) { return {}; }
};

}  // namespace dl::rocm

#endif  // DL_ROCM_RUNTIME_VENDOR_H_
