// A matrix product as vendor libraries expect it: the call of dl-kernels in plain C++ types, so
// that units without kernels can include it.
#ifndef DL_KIT_GEMM_H_
#define DL_KIT_GEMM_H_

#include <cstdint>
#include <functional>

#include "dl/kit/base.h"

DL_KIT_BEGIN

// Element (i, j) of matrix b of the batch is data[b * step + i * row + j * column].
struct Matrices {
  const void* data;
  int64_t step, row, column;

  Matrices transposed() const { return {data, step, column, row}; }
};

// c = alpha · a · b + beta · c; c is not read if beta is 0.
struct Gemm {
  // diopiDtype_t; c and the bias have dtype `out_dtype`: `dtype`, or float32 for half precision
  int dtype, out_dtype;
  int64_t batch, m, n, k;
  double alpha, beta;
  Matrices a, b, c;
  const void* bias;  // n elements, added to every row of c, or null
  bool tf32;         // float32 factors may be rounded to TF32
  void* stream;
  std::function<void*(int64_t bytes)> workspace;  // device memory, valid during the call
};

// Converts the call of dl-kernels (dl_kernels/library.h), which has the same members.
template <class Launch, class Call>
Gemm gemm_of(const Launch& launch, const Call& call, bool tf32) {
  const auto matrices = [](const auto& of) {
    return Matrices{of.data, of.step, of.row, of.column};
  };
  return {static_cast<int>(call.dtype),
          static_cast<int>(call.out_dtype),
          call.batch,
          call.m,
          call.n,
          call.k,
          call.alpha,
          call.beta,
          matrices(call.a),
          matrices(call.b),
          matrices(call.c),
          call.bias,
          tf32,
          launch.stream(),
          [&launch](int64_t bytes) { return launch.scratch()->take(bytes); }};
}

// Sets the function for matrix products in dl-kernels' table of libraries: a reference to
// kernels::library.gemm. `kMultiply` returns false, without writing anything, for calls that it
// does not support.
template <bool (*kMultiply)(const Gemm&), class Launch, class Call>
bool install_gemm(bool (*&function)(const Launch&, const Call&)) {
  function = [](const Launch& launch, const Call& call) {
    return kMultiply(gemm_of(launch, call, call.precision == decltype(call.precision)::kTf32));
  };
  return true;
}

DL_KIT_END

#endif  // DL_KIT_GEMM_H_
