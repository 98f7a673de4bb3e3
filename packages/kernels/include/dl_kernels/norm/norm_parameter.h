// Weight and bias of a norm, which may have the elements' dtype or the compute dtype.
#ifndef DL_KERNELS_NORM_NORM_PARAMETER_H_
#define DL_KERNELS_NORM_NORM_PARAMETER_H_

#include <cstdint>
#include <type_traits>
#include <utility>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/dense.h"
#include "dl_kernels/base/numeric.h"

DL_KERNELS_BEGIN

// One parameter, or none.
template <class T>
struct NormParameter {
  using C = compute_t<T>;
  const C* wide = nullptr;
  const T* narrow = nullptr;  // not used if T is C

  DL_FN bool is_none() const { return wide == nullptr && narrow == nullptr; }
  DL_FN C at(int64_t i) const { return narrow != nullptr ? cast<C>(narrow[i]) : wide[i]; }
};

// A parameter as a contiguous array, used in place if possible; on CPUs always of the compute type.
template <class T>
class DenseParameter {
 public:
  DenseParameter(diopiContextHandle_t ctx, const char* op, diopiConstTensorHandle_t tensor)
      : is_narrow_(!std::is_same_v<T, compute_t<T>> && tensor != nullptr &&
                   ref(tensor).dtype == dtype_of<T>()),
        wide_(ctx, op, is_narrow_ ? nullptr : tensor),
        narrow_(ctx, op, is_narrow_ ? tensor : nullptr) {}

  diopiError_t status() const { return is_narrow_ ? narrow_.status() : wide_.status(); }
  NormParameter<T> data() const { return {wide_.data(), narrow_.data()}; }

 private:
  bool is_narrow_;
  DenseInput<compute_t<T>> wide_;
  DenseInput<T> narrow_;
};
template <class T>
using NormVector = std::conditional_t<DL_KERNELS_GPU, DenseParameter<T>, DenseInput<compute_t<T>>>;
template <class T>
using norm_vector_t = decltype(std::declval<const NormVector<T>&>().data());

DL_KERNELS_END

#endif  // DL_KERNELS_NORM_NORM_PARAMETER_H_
