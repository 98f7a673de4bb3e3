// NCCL, for dl/kit/communicator.h.
#include "extensions/companions.h"
#include "runtime/vendor.h"

namespace dl::cuda {

kit::Nccl& Vendor::nccl() {
  static kit::Nccl library(nccl_companion());
  return library;
}

}  // namespace dl::cuda
