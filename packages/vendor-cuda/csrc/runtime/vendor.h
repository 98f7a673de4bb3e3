// The vendor's class: all of the table comes from dl::kit::Runtime, and extensions from mixins.
#ifndef DL_CUDA_RUNTIME_VENDOR_H_
#define DL_CUDA_RUNTIME_VENDOR_H_

#include "dl/kit/communicator.h"
#include "dl/kit/graph.h"
#include "dl/kit/kernel.h"
#include "dl/kit/runtime.h"
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

  // Opened when the first communicator is wanted; of the process.
  kit::Nccl& nccl();
};

}  // namespace dl::cuda

#endif  // DL_CUDA_RUNTIME_VENDOR_H_
