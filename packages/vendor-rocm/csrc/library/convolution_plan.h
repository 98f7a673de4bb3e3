// What MIOpen is told of a convolution, and the solution that is taken of those that it knows.
#ifndef DL_ROCM_LIBRARY_CONVOLUTION_PLAN_H_
#define DL_ROCM_LIBRARY_CONVOLUTION_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "dl/kit/convolution.h"
#include "library/miopen_api.h"

namespace dl::rocm::miopen {

// Made for one handle, for convolutions that are alike.
class Plan {
 public:
  // Of the solutions, which the library sorts by how long they should take, the first that computes
  // as precisely as our own kernels and that compiles. `possible` is false where there is none.
  static Plan make(Handle handle, const kit::Convolution& call);

  bool possible() const { return problem_ != nullptr && !declined_; }
  // False: the library declines to run it after all, for good or for want of memory.
  bool run(Handle handle, const kit::Convolution& call) const;

 private:
  struct Problem;

  std::shared_ptr<const Problem> problem_;
  uint64_t solution_ = 0;
  size_t workspace_ = 0;
  mutable bool declined_ = false;
};

// MIOpen's number of a dtype; -1: it is given none of it.
int type_of(int dtype);

}  // namespace dl::rocm::miopen

#endif  // DL_ROCM_LIBRARY_CONVOLUTION_PLAN_H_
