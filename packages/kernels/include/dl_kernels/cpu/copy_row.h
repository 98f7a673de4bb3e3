// CPU: copies of rows of elements of one size, between any strides. The elementwise loops would
// pass strided rows through a buffer.
#ifndef DL_KERNELS_CPU_COPY_ROW_H_
#define DL_KERNELS_CPU_COPY_ROW_H_

#include <cstdint>
#include <cstring>

#include "dl_kernels/base/config.h"
#include "dl_kernels/cpu/walk.h"

DL_KERNELS_BEGIN

namespace detail {

template <class U>
DL_FN void copy_row(U* to, int64_t a, const U* from, int64_t b, int64_t n) {
  if (a != 1) {
    for (int64_t i = 0; i < n; ++i) to[i * a] = from[i * b];
  } else if (b == 1) {
    std::memmove(static_cast<void*>(to), from, static_cast<size_t>(n) * sizeof(U));
  } else if (b == 0) {
    const U value = *from;
    for (int64_t i = 0; i < n; ++i) to[i] = value;
  } else if (b == -1) {
    // Loops with constant steps vectorize.
    DL_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i) to[i] = from[-i];
  } else if (b == 2) {
    DL_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i) to[i] = from[2 * i];
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * b];
  }
}

// A task for run_elementwise; operands are the output and the input.
template <class U>
void copy_rows(const void*, const TaskRows& rows, void* const* data) {
  for (int64_t line = 0; line < rows.count; ++line) {
    copy_row(static_cast<U*>(data[0]) + line * rows.line_steps[0], rows.steps[0],
             static_cast<const U*>(data[1]) + line * rows.line_steps[1], rows.steps[1], rows.n);
  }
}

}  // namespace detail

template <class U>
RowTask<2> copy_task() {
  return {detail::copy_rows<U>, nullptr, {sizeof(U), sizeof(U)}};
}

DL_KERNELS_END

#endif  // DL_KERNELS_CPU_COPY_ROW_H_
