// The selected MIOpen solution for a convolution.
#ifndef DL_ROCM_LIBRARY_CONVOLUTION_PLAN_H_
#define DL_ROCM_LIBRARY_CONVOLUTION_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "dl/kit/convolution.h"
#include "library/miopen_api.h"

namespace dl::rocm::miopen {

// A plan for one handle and for equal convolutions.
class Plan {
 public:
  // Selects the first solution, in MIOpen's order of estimated time, that is as precise as our own
  // kernels and that compiles. `possible` is false if there is none.
  static Plan make(Handle handle, const kit::Convolution& call);

  bool possible() const { return problem_ != nullptr && !declined_; }
  // Returns false if the library declines to run it after all, permanently or for lack of memory.
  bool run(Handle handle, const kit::Convolution& call) const;

 private:
  struct Problem;

  std::shared_ptr<const Problem> problem_;
  uint64_t solution_ = 0;
  size_t workspace_ = 0;
  mutable bool declined_ = false;
};

// MIOpen's constant for a dtype; -1 if we do not use MIOpen for it.
int type_of(int dtype);

}  // namespace dl::rocm::miopen

#endif  // DL_ROCM_LIBRARY_CONVOLUTION_PLAN_H_
