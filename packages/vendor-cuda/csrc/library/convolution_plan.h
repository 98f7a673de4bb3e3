// What cuDNN is told of a convolution, and the plan that it makes of it.
#ifndef DL_CUDA_LIBRARY_CONVOLUTION_PLAN_H_
#define DL_CUDA_LIBRARY_CONVOLUTION_PLAN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "library/convolution.h"
#include "library/cudnn_api.h"

namespace dl::cuda::cudnn {

// A descriptor of the library's until it is dropped. After a failure nothing more is done.
class Part {
 public:
  explicit Part(int kind);
  ~Part();
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  Descriptor get() const { return object_; }
  bool good() const { return status_ == kSuccess; }
  int status() const { return status_; }

  Part& set(int name, int type, int64_t count, const void* values);
  // Of cuDNN's enumerations.
  Part& set(int name, int type, int value) { return set(name, type, 1, &value); }
  Part& set(int name, int64_t value) { return set(name, kInt64Type, 1, &value); }
  Part& set(int name, Handle handle) { return set(name, kHandleType, 1, &handle); }
  Part& set(int name, const Part& part);
  Part& finish();

 private:
  Descriptor object_ = nullptr;
  int status_;
};

// Made for one handle, for convolutions that are alike. What a plan was made from lives as long.
class Plan {
 public:
  // Of what cuDNN recommends, then of what it falls back to, the first that computes as precisely
  // as our own kernels and that the library can make a plan of. `possible` is false where there is
  // none.
  static Plan make(Handle handle, const Convolution& call);

  bool possible() const { return plan_ != nullptr && !declined_; }
  // False, and never possible again: the library declines to run it after all.
  bool run(Handle handle, const Convolution& call) const;

 private:
  std::vector<std::unique_ptr<Part>> parts_;
  const Part* plan_ = nullptr;
  int64_t workspace_ = 0;
  mutable bool declined_ = false;
};

// cuDNN's number of a dtype; -1: it is given none of it.
int type_of(int dtype);

}  // namespace dl::cuda::cudnn

#endif  // DL_CUDA_LIBRARY_CONVOLUTION_PLAN_H_
