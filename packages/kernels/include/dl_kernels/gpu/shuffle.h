// GPU: a parallel Fisher-Yates shuffle; every element finds its final position independently.
//
// Step i swaps position i with target t(i) >= i, and no later step touches position i: it ends with
// the element that was at t(i) before step i. The last earlier step with the same target moved that
// element there, from the step's own position. What was at position j before step j was in turn
// moved there by the last step before j with target j, and so on. Chains have about log(n) steps.
#ifndef DL_KERNELS_GPU_SHUFFLE_H_
#define DL_KERNELS_GPU_SHUFFLE_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/random/draws.h"
#include "dl_kernels/sort/sort.h"

DL_KERNELS_BEGIN

namespace gpu {

struct TargetPut {
  int64_t* targets;
  int64_t n;
  DL_FN void operator()(int64_t i, uint64_t word, const WordSource& source) const {
    targets[i] = i + static_cast<int64_t>(draw_below(word, static_cast<uint64_t>(n - i), source));
  }
};

// Steps ordered by target, and by step for equal targets.
struct OrderedSteps {
  const int64_t *targets, *steps;
  int64_t n;

  // The step before the k-th with the same target, or -1.
  DL_FN int64_t before(int64_t k) const {
    return k > 0 && targets[k - 1] == targets[k] ? steps[k - 1] : -1;
  }
};

// For position j: one more than the last step before j with target j; 0 if there is none.
struct OriginItem {
  OrderedSteps ordered;
  int64_t* origins;

  DL_FN void operator()(int64_t k) const {
    const int64_t target = ordered.targets[k];
    if (k + 1 < ordered.n && ordered.targets[k + 1] == target) return;
    const int64_t last = ordered.steps[k];
    origins[target] = (last == target ? ordered.before(k) : last) + 1;
  }
};

template <class T>
struct PermutedItem {
  OrderedSteps ordered;
  const int64_t* origins;
  T* to;

  DL_FN void operator()(int64_t k) const {
    int64_t found = ordered.before(k);
    if (found < 0) {
      found = ordered.targets[k];
    } else {
      while (origins[found] != 0) found = origins[found] - 1;
    }
    to[ordered.steps[k]] = cast<T>(found);
  }
};

}  // namespace gpu

template <class T>
void permute(const Launch& launch, T* to, int64_t n, const RandomState& state) {
  if (n == 0) return;
  const Workspace<int64_t> drawn(launch, n), targets(launch, n), steps(launch, n),
      origins(launch, n);
  draw_long_words(launch, state, n, gpu::TargetPut{drawn.data(), n});
  (void)sort_along<int64_t>(launch, {false}, dense_rows(1, n, n), drawn.data(), targets.data(),
                            steps.data());
  const gpu::OrderedSteps ordered{targets.data(), steps.data(), n};
  clear_bytes(launch, origins.data(), n * static_cast<int64_t>(sizeof(int64_t)));
  each(launch, n, 1, gpu::OriginItem{ordered, origins.data()});
  each(launch, n, 1, gpu::PermutedItem<T>{ordered, origins.data(), to});
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_SHUFFLE_H_
