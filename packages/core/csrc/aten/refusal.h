// What a vendor refuses, in torch's words: its CPU kernel is called with copies of the arguments,
// and what that raises is raised, with the vendor's own words beside it.
#pragma once

#include <ATen/core/boxing/BoxedKernel.h>
#include <c10/util/Exception.h>

#include <string>

namespace dl::core {

// An operator of a vendor failed. Reaches the caller only where torch's CPU has no words for it.
class VendorError : public c10::Error {
 public:
  using c10::Error::Error;
};

// The error that the thread is about to word anew.
class Refusal {
 public:
  explicit Refusal(const VendorError& error);
  ~Refusal();
  Refusal(const Refusal&) = delete;
  Refusal& operator=(const Refusal&) = delete;

 private:
  const VendorError* before_;
};

// A kernel that never returns: it throws what the CPU's kernel throws, or else the vendor's error.
c10::BoxedKernel rewording();

}  // namespace dl::core
