// Shapes of attention: operand layout, what is added to the scores, and which keys a query attends
// to.
#ifndef DL_KERNELS_ATTENTION_ATTENTION_SHAPE_H_
#define DL_KERNELS_ATTENTION_ATTENTION_SHAPE_H_

#include <cstdint>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

// A tensor of four dimensions with strides in elements. The stride `batch` is 0 for packed samples,
// whose rows follow each other.
template <class T>
struct Strided4 {
  T* data;
  int64_t batch, head, row, column;

  DL_FN T* at(int64_t n, int64_t h, int64_t i) const {
    return data + n * batch + h * head + i * row;
  }
};

// A boolean mask is true for unmasked keys, a hiding mask for masked ones; masks of the element or
// compute type are added to the scores.
enum class MaskKind { none, boolean, hiding, element, compute };

// The mask and the bias of the scores. Broadcast dimensions have stride 0.
struct AttentionMask {
  MaskKind kind;
  const void* data;
  int64_t batch, head, row, column;
  // ALiBi slopes: a bias proportional to the distance of query and key; may be null.
  const float* slopes;
  int64_t slope_batch, slope_head;

  DL_FN float slope(int64_t n, int64_t h) const { return slopes[n * slope_batch + h * slope_head]; }
};

struct AttentionShape {
  int64_t batch, heads, key_heads, queries, keys, width, value_width;
  double scale;
  // Query i attends to the keys i + shift() - left … i + shift() + right; negative means unbounded.
  int64_t left, right;
  bool from_end;  // align the last query with the last key when there are more keys than queries
  // For samples of different lengths: four arrays of `batch` elements, the first row and the number
  // of queries, then the first row and the number of keys. `queries` and `keys` are the maxima
  // then.
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
  // Queries before first_query(key) do not attend to `key` or any later key; queries from
  // end_query(key) on do not attend to `key` or any earlier key.
  DL_FN int64_t first_query(int64_t key) const {
    const int64_t first = key - shift() - right;
    return right < 0 || first < 0 ? 0 : first;
  }
  DL_FN int64_t end_query(int64_t key) const {
    const int64_t end = key - shift() + left + 1;
    return left < 0 || end > queries ? queries : end < 0 ? 0 : end;
  }

  // Return the shape of one sample.
  DL_FN AttentionShape of(int64_t n) const {
    AttentionShape own = *this;
    if (sequences != nullptr) {
      own.queries = sequences[batch + n];
      own.keys = sequences[3 * batch + n];
    }
    return own;
  }

  // Return a view of a tensor with one row per query (or key) that begins at the sample's first
  // row.
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
