// The computation that both registrations of benchmarks/stable_abi.py share. It includes nothing of
// torch.
#pragma once

#include <cmath>
#include <cstdint>

// The family: X(name) for each operator, the name of a function of <cmath> and of torch.
#define DL_UNARY_FAMILY(X) X(exp) X(expm1) X(log) X(log1p) X(log2) X(log10) X(sqrt) X(tanh)

namespace dl_stable_abi {

template <double (*function)(double)>
void compute(const void* input, void* output, int64_t numel) {
  const auto* from = static_cast<const float*>(input);
  auto* to = static_cast<float*>(output);
  for (int64_t i = 0; i < numel; ++i) {
    to[i] = static_cast<float>(function(from[i]));
  }
}

}  // namespace dl_stable_abi
