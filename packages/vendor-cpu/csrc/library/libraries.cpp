#include "library/libraries.h"

#include <algorithm>

#include "dl_kernels/matrix/gemm.h"
#include "library/choices.h"
#include "library/constants.h"

namespace dl::cpu {
namespace {

using choices::CandidateNames;
using choices::Choice;
using choices::Implementation;
using choices::Key;
using choices::OneThread;
using choices::Point;
using choices::Table;
using kernels::ConvShape;
using kernels::GemmCall;
using kernels::Launch;
using kernels::TensorRef;
using onednn::Operands;

// With matrix tiles (AMX), oneDNN is faster even if it has to rearrange the weights.
bool has_tiles() {
#if defined(__x86_64__)
  static const bool found = __builtin_cpu_supports("amx-bf16") != 0;
  return found;
#else
  return false;
#endif
}

// Return true for products with few rows or columns whose other operand is dense: our kernels read
// that operand at memory bandwidth, unlike the libraries' general products.
bool is_skinny(const GemmCall& call) {
  using Skinny = kernels::detail::SkinnyGemm<float, float, float>;
  constexpr int64_t kMost = std::min<int64_t>(8, kernels::detail::kMostVectors);
  const bool tiled = call.dtype == diopi_dtype_bfloat16 && has_tiles();
  const int64_t most = call.batch != 1 ? 2 : tiled ? kMost / 2 : kMost;
  // For `count` vectors with `rows`: with few short rows, each product has too few terms.
  const auto is_one = [&](int64_t count, int64_t rows, int64_t along, int64_t across) {
    const bool long_enough = count <= 2 || Skinny::takes(rows, call.k);
    if (count <= most && along == 1) return long_enough;
    if (call.batch > 1 || across != 1) return false;
    // oneDNN copies a matrix whose row stride is a power of two.
    const bool copied = along >= 512 && (along & (along - 1)) == 0;
    return count == 1 || (copied && count <= 4);
  };
  return is_one(call.n, call.m, call.a.column, call.a.row) ||
         is_one(call.m, call.n, call.b.row, call.b.column);
}

// Without bfloat16 instructions, oneDNN takes two to three times as long as our kernels.
bool is_emulated(diopiDtype_t dtype) {
#if defined(__x86_64__)
  static const bool has_bfloat16 = __builtin_cpu_supports("avx512bf16") != 0;
#elif defined(__ARM_FEATURE_BF16)
  constexpr bool has_bfloat16 = true;
#else
  constexpr bool has_bfloat16 = false;
#endif
  return dtype == diopi_dtype_bfloat16 && !has_bfloat16;
}

// Waking a second thread would take longer than the product.
bool is_for_one_thread(const GemmCall& call) {
  constexpr int64_t kMost = 1 << 17;  // multiplications
  return call.batch * call.m * call.n * call.k <= kMost;
}

bool is_ours(const GemmCall& call) {
  return is_skinny(call) || call.out_dtype != call.dtype || is_emulated(call.dtype) ||
         (call.dtype == diopi_dtype_float64 && !openblas::uses_wide_registers());
}

// oneDNN writes row-major results; return its right operand.
kernels::MatrixBatch<const void> right_of(const GemmCall& call) {
  return call.c.column == 1 || call.n == 1 ? call.b : call.a.transposed();
}

// Return true if rows of the right operand map to few sets of the first-level cache. oneDNN copies
// such a matrix only if the row stride is a multiple of 8 KiB, and takes up to twice as long if it
// is an odd multiple of 2 or 4 KiB.
bool has_colliding_rows(const GemmCall& call) {
  const auto collide = [](const kernels::MatrixBatch<const void>& matrix) {
    constexpr int64_t kStep = 512, kCopied = 2048;  // elements
    return matrix.column == 1 && matrix.row > 2 * kStep && matrix.row % kStep == 0 &&
           matrix.row % kCopied != 0;
  };
  if (call.dtype != diopi_dtype_float32 || call.k < 384 || call.m < 32 || call.n < 32) return false;
  return collide(right_of(call)) && openblas::uses_wide_registers();
}

// Return true for products of few rows with a matrix that oneDNN multiplies faster than our kernels
// if it is prepacked: in bfloat16 on processors with matrix tiles (2 to 4 times), and otherwise in
// float32 if there are rows enough that memory bandwidth is no longer the limit.
bool is_faster_packed(const GemmCall& call) {
  constexpr int64_t kMost = 8, kBound = 4;
  const bool by_rows = call.c.column == 1 || call.n == 1;
  const int64_t rows = by_rows ? call.m : call.n, columns = by_rows ? call.n : call.m;
  if (call.batch != 1 || rows > kMost || columns <= kMost || call.out_dtype != call.dtype)
    return false;
  return call.dtype == diopi_dtype_bfloat16 ? has_tiles()
                                            : call.dtype == diopi_dtype_float32 && rows > kBound;
}

bool usual_gemm(const Launch& launch, const GemmCall& call) {
  const bool ours = is_ours(call);
  if (ours && !is_faster_packed(call)) return false;
  const OneThread limit(is_for_one_thread(call));
  // With prepacked weights, reused by all calls.
  if (constants::contains(right_of(call).data) && onednn::gemm(launch, call, Operands::kOther))
    return true;
  if (ours) return false;
  return (has_colliding_rows(call) && openblas::gemm(launch, call)) || onednn::gemm(launch, call) ||
         openblas::gemm(launch, call);
}

template <class Data>
void add_matrix(Key& key, const kernels::MatrixBatch<Data>& matrix) {
  for (const int64_t value : {matrix.step, matrix.row, matrix.column}) key.add(value);
}

Key key_of(const Launch& launch, const GemmCall& call) {
  Key key(Point::kGemm);
  // The scales of a product and of its addend affect the time only if they are 1 or 0.
  for (const int64_t value :
       {int64_t(call.dtype), int64_t(call.out_dtype), int64_t(call.precision), call.batch, call.m,
        call.n, call.k, int64_t(call.alpha != 1), int64_t(call.beta != 0),
        int64_t(call.bias != nullptr), launch.threads()})
    key.add(value);
  add_matrix(key, call.a);
  add_matrix(key, call.b);
  add_matrix(key, call.c);
  return key;
}

std::string gemm_candidates(const Launch& launch, const GemmCall& call) {
  CandidateNames names(launch.threads());
  const bool ours = is_ours(call), mixed = call.out_dtype != call.dtype;
  const bool by_openblas = !mixed && openblas::serves(call);
  const bool colliding = by_openblas && has_colliding_rows(call);
  // The default comes first.
  if (ours) names.add("own", false);
  if (colliding) names.add("openblas");
  if (!mixed && onednn::serves(call.dtype)) {
    names.add("onednn");
    names.add("onednn-packed");
  }
  if (by_openblas && !colliding) names.add("openblas");
  if (!ours) names.add("own", false);
  return names.text();
}

bool gemm(const Launch& launch, const GemmCall& call) {
  if (!Table::is_active()) return usual_gemm(launch, call);
  const Choice choice =
      Table::choose(key_of(launch, call), [&] { return gemm_candidates(launch, call); });
  const OneThread limit(choice.one_thread);
  const bool same = call.out_dtype == call.dtype;
  switch (choice.implementation) {
    case Implementation::kOneDnn:
      if (same && onednn::gemm(launch, call, Operands::kUsual, true)) return true;
      break;
    case Implementation::kOneDnnOther:
      if (same && onednn::gemm(launch, call, Operands::kOther, true)) return true;
      break;
    case Implementation::kOpenBlas:
      if (same && openblas::gemm(launch, call, true)) return true;
      break;
    case Implementation::kOwn:
      return false;
    case Implementation::kDefault:
      break;
  }
  return usual_gemm(launch, call);
}

// Each element of the result depends on one position of the image. A layout that suits oneDNN
// better does not pay for the copies, which take a quarter to half of the time.
bool is_pointwise(const ConvShape& shape) {
  for (const kernels::Axis& axis : shape.axes) {
    if (axis.kernel != 1 || axis.stride != 1 || axis.padding != 0) return false;
  }
  return shape.groups == 1;
}

std::string convolution_candidates(const Launch& launch, diopiDtype_t dtype, Implementation usual) {
  CandidateNames names(launch.threads());
  const bool ours = usual == Implementation::kOwn, as_given = usual == Implementation::kOneDnnOther;
  if (ours) names.add("own", false);
  if (onednn::serves(dtype)) {
    names.add(as_given ? "onednn-given" : "onednn");
    names.add(as_given ? "onednn" : "onednn-given");
  }
  if (!ours) names.add("own", false);
  return names.text();
}

Implementation usual_convolution(const ConvShape& shape, const TensorRef& weight) {
  // For depthwise convolutions, oneDNN is faster nevertheless.
  if (is_emulated(weight.dtype) && weight.sizes[1] > 1) return Implementation::kOwn;
  return weight.dtype == diopi_dtype_float32 && is_pointwise(shape) ? Implementation::kOneDnnOther
                                                                    : Implementation::kOneDnn;
}

// Choose an implementation of a convolution, and call `run` with the layout of its operands.
template <class Run>
bool convolution(Point point, const Launch& launch, const ConvShape& shape, const TensorRef& image,
                 const TensorRef& weight, const TensorRef& result, bool bias, const Run& run) {
  const Implementation usual = usual_convolution(shape, weight);
  Choice choice{usual, false};
  if (Table::is_active()) {
    Key key(point);
    key.add(launch.threads());
    onednn::add_convolution(key, shape, image, weight, result, bias);
    choice =
        Table::choose(key, [&] { return convolution_candidates(launch, weight.dtype, usual); });
    if (choice.implementation == Implementation::kDefault) choice.implementation = usual;
  }
  if (choice.implementation == Implementation::kOwn) return false;
  const OneThread limit(choice.one_thread);
  return (choice.implementation == Implementation::kOneDnnOther && run(Operands::kOther)) ||
         run(Operands::kUsual);
}

bool convolve(const Launch& launch, const ConvShape& shape, const TensorRef& out,
              const TensorRef& input, const TensorRef& weight, const void* bias) {
  return convolution(
      Point::kConvolve, launch, shape, input, weight, out, bias != nullptr,
      [&](Operands how) { return onednn::convolve(launch, shape, out, input, weight, bias, how); });
}

bool input_gradient(const Launch& launch, const ConvShape& shape, const TensorRef& grad_input,
                    const TensorRef& grad_output, const TensorRef& weight) {
  return convolution(Point::kInputGradient, launch, shape, grad_input, weight, grad_output, false,
                     [&](Operands how) {
                       return onednn::input_gradient(launch, shape, grad_input, grad_output, weight,
                                                     how);
                     });
}

bool weight_gradient(const Launch& launch, const ConvShape& shape, const TensorRef& grad_weight,
                     void* grad_bias, const TensorRef& grad_output, const TensorRef& input) {
  return convolution(Point::kWeightGradient, launch, shape, input, grad_weight, grad_output,
                     grad_bias != nullptr, [&](Operands how) {
                       return onednn::weight_gradient(launch, shape, grad_weight, grad_bias,
                                                      grad_output, input, how);
                     });
}

// Set while this library is loaded; oneDNN and OpenBLAS are opened by the first call.
const bool installed = [] {
  kernels::library = {gemm, convolve, input_gradient, weight_gradient};
  return true;
}();

}  // namespace
}  // namespace dl::cpu
