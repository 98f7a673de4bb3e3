// CPU: nonzero elements are counted in one pass and written in a second.
#ifndef DL_KERNELS_CPU_NONZERO_POSITIONS_H_
#define DL_KERNELS_CPU_NONZERO_POSITIONS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/dense.h"
#include "dl_kernels/base/dtype_dispatch.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/cpu/launch.h"

DL_KERNELS_BEGIN

template <class T>
class NonzeroPositions {
 public:
  NonzeroPositions(const Launch&, const T* from, int64_t items) : from_(from), items_(items) {
    if constexpr (kIsBool<T>) {
      count_ = count_true(from, items);
    } else {
      for (int64_t i = 0; i < items; ++i) count_ += cast<bool>(from[i]) ? 1 : 0;
    }
  }

  int64_t count() const { return count_; }

  void coordinates(const int64_t* sizes, int64_t ndim, int64_t* const* to, int64_t step) const {
    if (items_ == 0 || ndim == 0) return;
    int64_t at[kMaxDims] = {};
    const int64_t inner = ndim - 1, width = sizes[inner];
    const T* from = from_;
    int64_t* const last = to[inner];
    int64_t next = 0;
    for (int64_t i = 0; i < items_; i += width) {
      for (int64_t j = 0; j < width; ++j) {
        if (!cast<bool>(from[i + j])) continue;
        for (int64_t d = 0; d < inner; ++d) to[d][next] = at[d];
        last[next] = j;
        next += step;
      }
      for (int64_t d = inner - 1; d >= 0 && ++at[d] == sizes[d]; --d) at[d] = 0;
    }
  }

  const T* from() const { return from_; }
  int64_t items() const { return items_; }

 private:
  const T* from_;
  int64_t items_, count_ = 0;
};

inline diopiError_t take_nonzero(diopiContextHandle_t ctx, const char* op,
                                 const NonzeroPositions<Bool>& found, const TensorRef& values,
                                 void* to) {
  int64_t strides[kMaxDims];
  return dispatch_size(values.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Workspace<T> storage;
    const T* from = values.as<const T>();
    if (!values.contiguous) {
      TensorRef dense =
          detail::array_like(storage.reserve(Launch(ctx), values.numel), values, strides);
      dense.dtype = values.dtype;
      DL_TRY(copy_elements(ctx, op, dense, values));
      from = storage.data();
    }
    const Bool* take = found.from();
    T* next = static_cast<T*>(to);
    for (int64_t i = 0; i < found.items(); ++i) {
      if (cast<bool>(take[i])) *next++ = from[i];
    }
    return diopiSuccess;
  });
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_NONZERO_POSITIONS_H_
