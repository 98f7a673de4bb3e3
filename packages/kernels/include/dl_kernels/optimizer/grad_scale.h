// Loss scaling for mixed precision: unscaling a batch of gradients, and updating the scale after a
// step.
#ifndef DL_KERNELS_OPTIMIZER_GRAD_SCALE_H_
#define DL_KERNELS_OPTIMIZER_GRAD_SCALE_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/optimizer/tensor_batch.h"
#include "dl_kernels/parallel/block.h"
#include "dl_kernels/parallel/flag.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

template <class T>
struct GradArrays {
  const T* from;
  T* to;
};

template <class T>
using GradBatch = TensorBatch<GradArrays<T>>;

// Multiply by the scale; raise the flag if an element was not finite before.
template <class T>
struct UnscaleRow {
  Held<GradBatch<T>> batch;
  const float* scale;
  bool* found;

  template <class B>
  DL_FN void operator()(const B& block, int64_t piece) const {
    using C = compute_t<T>;
    const auto part = batch->part(piece);
    const T* from = batch->of(part.tensor).from + part.first;
    T* to = batch->of(part.tensor).to + part.first;
    const C factor = static_cast<C>(*scale);
    const int bad = block.reduce(
        part.count, 0, [](int a, int b) { return a | b; },
        [=](int64_t i) {
          const C g = cast<C>(from[i]);
          to[i] = cast<T>(g * factor);
          return g * C(0) == C(0) ? 0 : 1;
        });
    if (bad == 0) return;
    bool* flag = found;
    block.map(1, [=](int64_t) { raise_flag(flag); });
  }
};

// An item function for a single item.
struct FoundItem {
  float* found;
  const bool* flag;
  DL_FN void operator()(int64_t) const {
    if (*flag) *found = 1.0f;
  }
};

// An item function for a single item.
struct ScaleItem {
  float* scale;
  int32_t* successes;
  const float* found;
  double growth, backoff;
  int32_t interval;

  DL_FN void operator()(int64_t) const {
    if (*found != 0.0f) {
      *scale = static_cast<float>(*scale * backoff);
      *successes = 0;
    } else if (++*successes == interval) {
      const float grown = static_cast<float>(*scale * growth);
      if (grown - grown == 0.0f) *scale = grown;  // only if finite
      *successes = 0;
    }
  }
};

template <class T>
void run_unscale(const Launch& launch, const GradBatch<T>& batch, const float* scale, bool* found) {
  rows(launch, batch.pieces(), GradBatch<T>::kPiece, UnscaleRow<T>{&batch, scale, found});
}

DL_KERNELS_END

#endif  // DL_KERNELS_OPTIMIZER_GRAD_SCALE_H_
