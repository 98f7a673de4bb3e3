// RCCL, for dl/kit/communicator.h.
#include "library/companions.h"
#include "runtime/vendor.h"

namespace dl::rocm {

kit::Nccl& Vendor::nccl() {
  static kit::Nccl library(rccl_companion(), "RCCL");
  return library;
}

}  // namespace dl::rocm
