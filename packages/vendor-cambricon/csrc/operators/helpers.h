// Helpers of the operators' descriptions (library/library.yaml) that only this library needs.
#ifndef DL_CAMBRICON_OPERATORS_HELPERS_H_
#define DL_CAMBRICON_OPERATORS_HELPERS_H_

#include <cstdint>

#include "dl/kit/library/call.h"
#include "dl/kit/library/helpers.h"
#include "dl/kit/library/values.h"
#include "operators/pooling.h"

namespace dl::cambricon {

namespace lib = ::dl::kit::library;

// The value of an enumerator of CNNL, from the installed header.
int64_t value(const char* name);
// The enumerator that converts between the dtypes of two tensors.
int64_t cast(const lib::View& from, const lib::View& to);

// A number in the type that functions compute in: int32 for integers, else float32. Declines
// fractions for integers.
lib::Scalar factor(double number, const lib::View& like);
// A number in the dtype of a tensor; declines fractions for integers.
lib::Scalar element(const lib::Scalar& number, const lib::View& like);
// A temporary with the number as its only element, in the dtype of a tensor. Declines numbers that
// the dtype cannot represent, which would compare wrongly.
lib::View constant(lib::Call& call, const lib::Scalar& number, const lib::View& like);

// Operator descriptors.
lib::Object activation(const char* mode);
lib::Object gelu(bool approximate);
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

// The algorithms that the library chooses for a convolution and its gradients.
int64_t forward_algorithm(lib::Call& call, const lib::Object& convolution, const lib::View& x,
                          const lib::View& w, const lib::View& y);
int64_t data_algorithm(lib::Call& call, const lib::Object& convolution, const lib::View& w,
                       const lib::View& diff_y, const lib::View& diff_x);
int64_t filter_algorithm(lib::Call& call, const lib::Object& convolution, const lib::View& x,
                         const lib::View& diff_y, const lib::View& diff_w);
// The enumerator of a diopiReduction_t.
int64_t nll_reduction(int64_t reduction);

// Tensors of a list with a dimension of size 1 before this one.
lib::Views unsqueezed(const lib::Views& tensors, int64_t dim);
// The tensors of a list that have elements.
lib::Views nonempty(const lib::Views& tensors);
// A dimension of a tensor, counted from the first.
int64_t position(int64_t dim, const lib::View& x);
bool one_dtype(const lib::Views& tensors, const lib::View& like);

// A tensor whose elements a function does not read, although it takes them.
inline lib::View unread(const lib::Call&, const lib::View& x) { return x; }

// Images: [N, C, ...] as [N, H, W, C], in CNNL's layout.
lib::View nhwc(const lib::View& x);
// A view with three dimensions: all dimensions before `dim` as one, `dim`, and all after it as one.
lib::View around(const lib::View& x, int64_t dim);
// An output of a reduction with the number of dimensions of its input.
lib::View kept(const lib::View& out, const lib::View& x, const lib::Ints& dims);
// The first dimensions of a tensor whose other dimensions have size 1.
lib::View leading(const lib::View& x, int64_t count);
}  // namespace dl::cambricon

#endif  // DL_CAMBRICON_OPERATORS_HELPERS_H_
