// A cuDNN plan for a convolution.
#ifndef DL_CUDA_LIBRARY_CONVOLUTION_PLAN_H_
#define DL_CUDA_LIBRARY_CONVOLUTION_PLAN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "library/convolution.h"
#include "library/cudnn_api.h"

namespace dl::cuda::cudnn {

// Owner of a cuDNN descriptor. After a failure, all later calls do nothing.
class OwnedDescriptor {
 public:
  explicit OwnedDescriptor(int kind);
  ~OwnedDescriptor();
  OwnedDescriptor(const OwnedDescriptor&) = delete;
  OwnedDescriptor& operator=(const OwnedDescriptor&) = delete;

  Descriptor get() const { return object_; }
  bool good() const { return status_ == kSuccess; }
  int status() const { return status_; }

  OwnedDescriptor& set(int name, int type, int64_t count, const void* values);
  // Sets an attribute to a value of a cuDNN enumeration.
  OwnedDescriptor& set(int name, int type, int value) { return set(name, type, 1, &value); }
  OwnedDescriptor& set(int name, int64_t value) { return set(name, kInt64Type, 1, &value); }
  OwnedDescriptor& set(int name, Handle handle) { return set(name, kHandleType, 1, &handle); }
  OwnedDescriptor& set(int name, const OwnedDescriptor& part);
  OwnedDescriptor& finish();

 private:
  Descriptor object_ = nullptr;
  int status_;
};

// A plan for one handle and for equal convolutions. Keeps the descriptors that it was made from
// alive.
class Plan {
 public:
  // Selects the first configuration, of cuDNN's recommended ones and then of its fallbacks, that is
  // as precise as our own kernels and for which cuDNN can make a plan. `possible` is false if there
  // is none.
  static Plan make(Handle handle, const Convolution& call);

  bool possible() const { return plan_ != nullptr && !declined_; }
  // Returns false, and never succeeds again, if the library declines to run the plan after all.
  bool run(Handle handle, const Convolution& call) const;

 private:
  std::vector<std::unique_ptr<OwnedDescriptor>> parts_;
  const OwnedDescriptor* plan_ = nullptr;
  int64_t workspace_ = 0;
  mutable bool declined_ = false;
};

// cuDNN's constant for a dtype; -1 if we do not use cuDNN for it.
int type_of(int dtype);

}  // namespace dl::cuda::cudnn

#endif  // DL_CUDA_LIBRARY_CONVOLUTION_PLAN_H_
