// Stop criterion of sequences by their length limits.
#ifndef DL_KERNELS_INDEX_LENGTH_CRITERION_H_
#define DL_KERNELS_INDEX_LENGTH_CRITERION_H_

#include <cstdint>

#include "dl_kernels/base/boolean.h"
#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

// Determines which sequences are finished after a step, how many, and whether all are.
struct LengthRow {
  Bool *finished, *should_stop;
  int64_t* count;
  const int64_t* limits;
  int64_t batch, step;
  DL_FN bool is_over(int64_t i) const {
    return static_cast<bool>(finished[i]) || step >= limits[i];
  }
  template <class B>
  DL_FN void operator()(const B& block, int64_t) const {
    const LengthRow row = *this;
    const int64_t sum =
        block.sum(batch, [=](int64_t i) { return static_cast<int64_t>(row.is_over(i)); });
    block.map(batch, [=](int64_t i) { row.finished[i] = Bool(row.is_over(i)); });
    block.map(1, [=](int64_t) {
      *row.count = sum;
      *row.should_stop = Bool(sum == row.batch);
    });
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_INDEX_LENGTH_CRITERION_H_
