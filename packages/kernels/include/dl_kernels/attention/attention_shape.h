// The operands of attention: their layout, a mask, and which keys a query sees.
#ifndef DL_KERNELS_ATTENTION_ATTENTION_SHAPE_H_
#define DL_KERNELS_ATTENTION_ATTENTION_SHAPE_H_

#include <cstdint>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

// A tensor of four dimensions; strides count elements.
template <class T>
struct Strided4 {
  T* data;
  int64_t batch, head, row, column;

  DL_FN T* at(int64_t n, int64_t h, int64_t i) const {
    return data + n * batch + h * head + i * row;
  }
};

enum class MaskKind { none, boolean, element, compute };

// Added to the scores; a boolean mask is true where a key takes part. Broadcast dimensions have
// stride 0.
struct AttentionMask {
  MaskKind kind;
  const void* data;
  int64_t batch, head, row, column;
};

struct AttentionShape {
  int64_t batch, heads, key_heads, queries, keys, width, value_width;
  double scale;
  // Query i sees the keys i + shift - left … i + shift + right; negative: no limit.
  int64_t shift, left, right;

  DL_FN int64_t group() const { return heads / key_heads; }
  DL_FN int64_t first_key(int64_t query) const {
    const int64_t first = query + shift - left;
    return left < 0 || first < 0 ? 0 : first;
  }
  DL_FN int64_t end_key(int64_t query) const {
    const int64_t end = query + shift + right + 1;
    return right < 0 || end > keys ? keys : end < 0 ? 0 : end;
  }
  // No query before the first sees `key` or a later one; none from the end on, `key` or an earlier.
  DL_FN int64_t first_query(int64_t key) const {
    const int64_t first = key - shift - right;
    return right < 0 || first < 0 ? 0 : first;
  }
  DL_FN int64_t end_query(int64_t key) const {
    const int64_t end = key - shift + left + 1;
    return left < 0 || end > queries ? queries : end < 0 ? 0 : end;
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_ATTENTION_ATTENTION_SHAPE_H_
