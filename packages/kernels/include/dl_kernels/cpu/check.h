// CPU: an invalid item makes the operator fail before it has written anything.
#ifndef DL_KERNELS_CPU_CHECK_H_
#define DL_KERNELS_CPU_CHECK_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/data_error.h"
#include "dl_kernels/cpu/launch.h"

DL_KERNELS_BEGIN

namespace detail {

template <class F>
int64_t first_where(int64_t count, const F& f) {
  int64_t i = 0;
  while (i < count && !f(i)) ++i;
  return i < count ? i : count;
}

template <class Check>
__attribute__((cold, noinline)) diopiError_t fail_at(const char* op, const Check& check,
                                                     int64_t i) {
  dl_device_error_t error{};
  check.describe(i, error);
  return fail_with(op, error);
}

}  // namespace detail

template <class Check>
diopiError_t check_items(const Launch&, const char* op, int64_t count, const Check& check) {
  const int64_t bad = detail::first_where(count, check);
  return bad >= count ? diopiSuccess : detail::fail_at(op, check, bad);
}

// Checked indices, valid for the duration of a call.
class CheckedIndexes {
 public:
  template <class Check>
  diopiError_t open(const Launch& launch, const char* op, const Check& check, int64_t count,
                    int64_t, bool = false) {
    data_ = check.indexes;
    return check_items(launch, op, count, check);
  }
  const int64_t* data() const { return data_; }

 private:
  const int64_t* data_ = nullptr;
};

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_CHECK_H_
