// The vendor's class: dl::kit::Runtime provides the table, and mixins provide the extensions.
#ifndef DL_CUDA_RUNTIME_VENDOR_H_
#define DL_CUDA_RUNTIME_VENDOR_H_

#include <cstdint>
#include <map>

#include "dl/kit/communicator.h"
#include "dl/kit/graph.h"
#include "dl/kit/kernel.h"
#include "dl/kit/runtime.h"
#include "extensions/streams.h"
#include "extensions/tracer.h"
#include "runtime/api.h"

namespace dl::cuda {

using Base = kit::Communicating<kit::LaunchingKernels<kit::Capturing<kit::Runtime<Api>>>>;

class Vendor : public Base {
 public:
  static constexpr const char* kName = "cuda";
  static constexpr const char* kVersion = DL_CUDA_VERSION;
  static constexpr const char* kDevicesFrom = "CUDA_VISIBLE_DEVICES";

  kit::Operators operators();
  static dl_extension_t* extensions();

  // One per process, opened by the first communicator.
  kit::Nccl& nccl();

  void* stream_create(int32_t device, int32_t priority) {
    void* const made = Base::stream_create(device, priority);
    streams_.add(made, device);
    return made;
  }
  void stream_destroy(int32_t device, void* stream) {
    streams_.remove(stream, device);
    Base::stream_destroy(device, stream);
  }

  // Members for dl/kit/profiler.h.
  static Recorder& recorder() { return Recorder::here(); }
  static int traced_device(int32_t device) { return Devices::here().device(device); }
  std::map<uint32_t, void*> traced_streams(int32_t device) { return streams_.by_id(device); }

 private:
  Streams streams_;
};

}  // namespace dl::cuda

#endif  // DL_CUDA_RUNTIME_VENDOR_H_
