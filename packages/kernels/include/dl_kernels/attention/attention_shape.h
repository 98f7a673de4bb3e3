// The operands of attention: their layout, what is added to the scores, and which keys a query
// sees.
#ifndef DL_KERNELS_ATTENTION_ATTENTION_SHAPE_H_
#define DL_KERNELS_ATTENTION_ATTENTION_SHAPE_H_

#include <cstdint>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

// A tensor of four dimensions; strides count elements. Where the rows of all samples lie one after
// the other, `batch` is 0.
template <class T>
struct Strided4 {
  T* data;
  int64_t batch, head, row, column;

  DL_FN T* at(int64_t n, int64_t h, int64_t i) const {
    return data + n * batch + h * head + i * row;
  }
};

// A boolean mask is true where a key takes part, a hiding one where it does not; others are added.
enum class MaskKind { none, boolean, hiding, element, compute };

// What is done to the scores. Broadcast dimensions have stride 0.
struct AttentionMask {
  MaskKind kind;
  const void* data;
  int64_t batch, head, row, column;
  // Of a bias that falls with the distance of query and key, or null.
  const float* slopes;
  int64_t slope_batch, slope_head;

  DL_FN float slope(int64_t n, int64_t h) const { return slopes[n * slope_batch + h * slope_head]; }
};

struct AttentionShape {
  int64_t batch, heads, key_heads, queries, keys, width, value_width;
  double scale;
  // Query i sees the keys i + shift() - left … i + shift() + right; negative: no limit.
  int64_t left, right;
  bool from_end;  // queries are counted from the end where there are more keys
  // Where samples differ in length, four arrays of `batch`: the first row of queries, how many
  // there are, and the same of keys. `queries` and `keys` are the largest then.
  const int64_t* sequences;

  DL_FN int64_t group() const { return heads / key_heads; }
  DL_FN int64_t shift() const { return from_end && keys > queries ? keys - queries : 0; }
  DL_FN int64_t first_key(int64_t query) const {
    const int64_t first = query + shift() - left;
    return left < 0 || first < 0 ? 0 : first;
  }
  DL_FN int64_t end_key(int64_t query) const {
    const int64_t end = query + shift() + right + 1;
    return right < 0 || end > keys ? keys : end < 0 ? 0 : end;
  }
  // No query before the first sees `key` or a later one; none from the end on, `key` or an earlier.
  DL_FN int64_t first_query(int64_t key) const {
    const int64_t first = key - shift() - right;
    return right < 0 || first < 0 ? 0 : first;
  }
  DL_FN int64_t end_query(int64_t key) const {
    const int64_t end = key - shift() + left + 1;
    return left < 0 || end > queries ? queries : end < 0 ? 0 : end;
  }

  // The shape of one sample.
  DL_FN AttentionShape of(int64_t n) const {
    AttentionShape own = *this;
    if (sequences != nullptr) {
      own.queries = sequences[batch + n];
      own.keys = sequences[3 * batch + n];
    }
    return own;
  }

  // A tensor with a row for each query, or key, whose row 0 is the first of a sample.
  template <class T>
  DL_FN Strided4<T> query_rows(int64_t n, const Strided4<T>& tensor) const {
    return moved(tensor, 0, n);
  }
  template <class T>
  DL_FN Strided4<T> key_rows(int64_t n, const Strided4<T>& tensor) const {
    return moved(tensor, 2 * batch, n);
  }

 private:
  template <class T>
  DL_FN Strided4<T> moved(Strided4<T> tensor, int64_t starts, int64_t n) const {
    if (sequences != nullptr && tensor.data != nullptr && tensor.batch == 0)
      tensor.data += sequences[starts + n] * tensor.row;
    return tensor;
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_ATTENTION_ATTENTION_SHAPE_H_
