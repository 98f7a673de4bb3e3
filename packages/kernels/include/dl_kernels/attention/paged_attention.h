// Attention of one new token per sequence over a paged KV cache. Source: Kwon et al.,
// Efficient Memory Management for Large Language Model Serving with PagedAttention (2023).
#ifndef DL_KERNELS_ATTENTION_PAGED_ATTENTION_H_
#define DL_KERNELS_ATTENTION_PAGED_ATTENTION_H_

#include "dl_kernels/attention/token_attention.h"
#include "dl_kernels/base/wide.h"
#include "dl_kernels/index/indexes.h"
#include "dl_kernels/parallel/host_integers.h"

DL_KERNELS_BEGIN

struct PagedShape {
  int64_t batch, heads, key_heads, width, block_size;
  int64_t longest, columns;  // maximum number of tokens and of pages of a sequence
};

inline diopiError_t check_paged_shape(const char* op, const PagedShape& shape) {
  DL_TRY(check_positive(op, {{"num_heads", shape.heads},
                             {"num_kv_heads", shape.key_heads},
                             {"dim", shape.width},
                             {"block_size", shape.block_size}}));
  if (shape.heads % shape.key_heads != 0)
    return fail(op, "num_heads is %lld; it must be a multiple of num_kv_heads, %lld",
                (long long)shape.heads, (long long)shape.key_heads);
  int64_t row = 0;
  if (__builtin_mul_overflow(shape.heads, shape.width, &row))
    return fail(op, "a row of %lld heads of %lld elements overflows int64", (long long)shape.heads,
                (long long)shape.width);
  return diopiSuccess;
}

// Accept a tensor of all rows, or of blocks of rows.
inline diopiError_t check_pages(const char* op, const char* name, const TensorRef& pages,
                                const PagedShape& shape) {
  const int64_t row = shape.key_heads * shape.width;
  if (pages.ndim == 3) return check_sizes(op, name, pages, {kAnySize, shape.block_size, row});
  DL_TRY(check_sizes(op, name, pages, {kAnySize, row}));
  if (pages.sizes[0] % shape.block_size == 0) return diopiSuccess;
  return fail(op, "%s has %lld rows; the number must be a multiple of block_size, %lld", name,
              (long long)pages.sizes[0], (long long)shape.block_size);
}

// Copies the page numbers that sequences use; unused entries of the table become 0.
struct PageItem {
  int64_t* to;
  const int64_t *table, *lengths;
  int64_t columns, width, block_size;
  DL_FN void operator()(int64_t i) const {
    const int64_t n = i / columns, page = i % columns;
    to[i] = page * block_size < lengths[n] ? table[n * width + page] : 0;
  }
};

class Pages {
 public:
  // Set the sizes that are derived from the lengths.
  diopiError_t open(diopiContextHandle_t ctx, const char* op, const TensorRef& table,
                    diopiSize_t lengths, int64_t rows, PagedShape* shape) {
    DL_TRY(check_sizes(op, "block_table", table, {shape->batch, kAnySize}));
    for (int64_t n = 0; n < shape->batch; ++n) {
      const int64_t length = lengths.data[n];
      if (length < 0 || (length > 0 && (length - 1) / shape->block_size >= table.sizes[1]))
        return fail(op, "sequence %lld has %lld tokens; block_table has %lld blocks of %lld",
                    (long long)n, (long long)length, (long long)table.sizes[1],
                    (long long)shape->block_size);
      shape->longest = length > shape->longest ? length : shape->longest;
    }
    shape->columns = shape->longest == 0 ? 0 : (shape->longest - 1) / shape->block_size + 1;
    const Launch launch(ctx);
    const DenseInput<int64_t> entries(ctx, op, table);
    DL_TRY(entries.status());
    lengths_.reserve(launch, shape->batch);
    copy_host_integers(launch, lengths_.data(), lengths.data, shape->batch);
    const int64_t count = shape->batch * shape->columns;
    storage_.reserve(launch, count);
    each(launch, count, 2,
         PageItem{storage_.data(), entries.data(), lengths_.data(), shape->columns, table.sizes[1],
                  shape->block_size});
    return check_indexes(launch, op, storage_.data(), count, 0, rows / shape->block_size,
                         page_indices_);
  }

  const int64_t* page_indices() const { return page_indices_.data(); }
  const int64_t* lengths() const { return lengths_.data(); }

 private:
  Workspace<int64_t> lengths_, storage_;
  CheckedIndexes page_indices_;
};

// A mask in which true means masked.
struct PagedMask {
  const Bool* data;
  int64_t row, column;
};

inline diopiError_t open_paged_mask(const char* op, diopiConstTensorHandle_t handle,
                                    const PagedShape& shape, PagedMask* mask) {
  *mask = {};
  if (handle == nullptr) return diopiSuccess;
  const TensorRef tensor = ref(handle);
  if (tensor.dtype != diopi_dtype_bool && tensor.dtype != diopi_dtype_uint8)
    return diopiDtypeNotSupported;
  const bool fits = tensor.ndim == 2 && (tensor.sizes[0] == 1 || tensor.sizes[0] == shape.batch) &&
                    tensor.sizes[1] >= shape.longest;
  if (!fits)
    return fail(op, "the mask must have 1 or %lld rows and at least %lld columns",
                (long long)shape.batch, (long long)shape.longest);
  *mask = {tensor.as<const Bool>(), tensor.sizes[0] == 1 ? 0 : tensor.strides[0],
           tensor.strides[1]};
  return diopiSuccess;
}

template <class T, class C>
struct PagedItem {
  C* out;
  const C* q;
  const T *k, *v;
  const int64_t *page_indices, *lengths;
  PagedMask mask;
  PagedShape shape;
  C scale;
  DL_FN void operator()(int64_t item) const {
    const int64_t h = item % shape.heads, n = item / shape.heads, width = shape.width;
    const int64_t key_head = h / (shape.heads / shape.key_heads);
    const int64_t* const pages = page_indices + n * shape.columns;
    const auto row = [&](int64_t t) {
      const int64_t at = pages[t / shape.block_size] * shape.block_size + t % shape.block_size;
      return (at * shape.key_heads + key_head) * width;
    };
    attend(
        out + item * width, width, lengths[n],
        [&](int64_t t) {
          if (mask.data != nullptr && cast<bool>(mask.data[n * mask.row + t * mask.column]))
            return C(-INFINITY);
          return dot(q + item * width, k + row(t), width) * scale;
        },
        [&](int64_t t) { return v + row(t); });
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_ATTENTION_PAGED_ATTENTION_H_
