// Helpers of the operators' descriptions (library/library.yaml) that only this library needs.
#ifndef DL_CAMBRICON_OPERATORS_HELPERS_H_
#define DL_CAMBRICON_OPERATORS_HELPERS_H_

#include <cstdint>

#include "dl/kit/library/call.h"
#include "dl/kit/library/helpers.h"
#include "dl/kit/library/values.h"

namespace dl::cambricon {

namespace lib = ::dl::kit::library;

// The value of an enumerator of CNNL, from the installed header.
int64_t value(const char* name);
// The enumerator that converts between the dtypes of two tensors.
int64_t cast(const lib::View& from, const lib::View& to);

// A number in the type that functions compute in: int32 for integers, else float32.
inline lib::Scalar factor(double number, const lib::View& like) {
  lib::Scalar made = lib::scalar_of(number);
  if (lib::is_floating(like)) {
    made.value.stype = diopi_dtype_float32;
  } else {
    made = lib::scalar_of(static_cast<int64_t>(number));
    made.value.stype = diopi_dtype_int32;
  }
  return made;
}
// A number in the dtype of a tensor; declines numbers that the dtype cannot represent.
lib::Scalar element(const lib::Scalar& number, const lib::View& like);

// Operator descriptors.
lib::Object activation(const char* mode, bool approximate);
lib::Object op_tensor(const char* operation, const lib::View& like);
// Reduces dimensions; `dims` empty: all.
lib::Object reduce(const char* operation, const lib::Ints& dims, const lib::View& x);
lib::Object reduce_norm(double order, const lib::Ints& dims, const lib::View& x);
lib::Object reduce_indices(const char* operation, int64_t dim, const lib::View& x);
lib::Object convolution(const lib::Ints& stride, const lib::Ints& padding,
                        const lib::Ints& dilation, int64_t groups);
lib::Object pooling(const char* mode, const lib::Ints& kernel, const lib::Ints& stride,
                    const lib::Ints& padding, const lib::Ints& dilation, bool ceil_mode);
// Products: of matrices, or of batches of them. `beta`: the result is added to what `out` has.
lib::Object matmul(lib::Call& call, const lib::View& a, const lib::View& b, const lib::View& out,
                   bool beta);
lib::Object matmul_algorithm(lib::Call& call, const lib::View& a, const lib::View& b,
                             const lib::View& out, bool beta);
int64_t matmul_workspace(lib::Call& call, const lib::View& a, const lib::View& b,
                         const lib::View& out, bool beta);
// A matrix without gaps, which may be the transposed one: `matmul` states which.
lib::View factor_of_product(const lib::View& x);

// A tensor whose elements a function does not read, although it takes them.
inline lib::View unread(const lib::Call&, const lib::View& x) { return x; }

// Images: [N, C, ...] as [N, H, W, C], in CNNL's layout.
lib::View nhwc(const lib::View& x);
// Three dimensions: those before one, that one, and those behind it.
lib::View around(const lib::View& x, int64_t dim);
// An output of a reduction with the number of dimensions of its input.
lib::View kept(const lib::View& out, const lib::View& x, const lib::Ints& dims);
// The first dimensions of a tensor whose others have size 1.
lib::View leading(const lib::View& x, int64_t count);
// A tensor of one element as one dimension.
lib::View as_one(const lib::View& x);

}  // namespace dl::cambricon

#endif  // DL_CAMBRICON_OPERATORS_HELPERS_H_
