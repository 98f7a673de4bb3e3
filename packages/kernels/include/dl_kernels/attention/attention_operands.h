// Operands of attention in the supported layouts, as strided [samples, heads, rows, width].
#ifndef DL_KERNELS_ATTENTION_ATTENTION_OPERANDS_H_
#define DL_KERNELS_ATTENTION_ATTENTION_OPERANDS_H_

#include <cstring>

#include "dl_kernels/attention/attention_shape.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"

DL_KERNELS_BEGIN

enum class AttentionLayout {
  heads_first,        // [N, H, S, D]
  rows_first,         // [N, S, H, D]
  joined,             // [N, S, H · D]
  joined_rows_first,  // [S, N, H · D]
  packed,             // [rows of all samples, H, D]
  joined_packed,      // [rows of all samples, H · D]
};

inline bool is_joined(AttentionLayout layout) {
  return layout == AttentionLayout::joined || layout == AttentionLayout::joined_rows_first ||
         layout == AttentionLayout::joined_packed;
}

inline int dimensions(AttentionLayout layout) {
  switch (layout) {
    case AttentionLayout::heads_first:
    case AttentionLayout::rows_first:
      return 4;
    case AttentionLayout::joined_packed:
      return 2;
    default:
      return 3;
  }
}

// Return the layout with this DIOPI name.
inline diopiError_t attention_layout(const char* op, const char* name, AttentionLayout* layout) {
  const struct {
    const char* name;
    AttentionLayout layout;
  } known[] = {{"BSND", AttentionLayout::rows_first},
               {"BNSD", AttentionLayout::heads_first},
               {"BSH", AttentionLayout::joined},
               {"SBH", AttentionLayout::joined_rows_first}};
  for (const auto& each_one : known) {
    if (name != nullptr && std::strcmp(name, each_one.name) == 0) {
      *layout = each_one.layout;
      return diopiSuccess;
    }
  }
  return fail(op, "input_layout is \"%s\"; it must be \"BSND\", \"BNSD\", \"BSH\" or \"SBH\"",
              name == nullptr ? "NULL" : name);
}

struct AttentionOperand {
  void* data;
  diopiDtype_t dtype;
  int64_t batch, heads, rows, width;
  int64_t batch_step, head_step, row_step, column_step;

  template <class T>
  Strided4<T> as() const {
    return {static_cast<T*>(data), batch_step, head_step, row_step, column_step};
  }

  // Compare all sizes except the width of a row.
  bool equals_except_width(const AttentionOperand& other) const {
    return batch == other.batch && heads == other.heads && rows == other.rows;
  }
};

// Open an operand. `heads` is the number of heads joined in a row of a joined layout.
inline diopiError_t attention_operand(const char* op, const char* name, const TensorRef& tensor,
                                      AttentionLayout layout, int64_t heads,
                                      AttentionOperand* operand) {
  if (tensor.ndim != dimensions(layout))
    return fail(op, "%s has %lld dimensions; it needs %d", name, (long long)tensor.ndim,
                dimensions(layout));
  const int64_t *size = tensor.sizes, *step = tensor.strides;
  *operand = {};
  operand->data = tensor.data;
  operand->dtype = tensor.dtype;
  const auto samples = [&](int d) {
    operand->batch = size[d];
    operand->batch_step = step[d];
  };
  const auto rows = [&](int d) {
    operand->rows = size[d];
    operand->row_step = step[d];
  };
  const auto heads_and_columns = [&](int d) {
    operand->heads = size[d];
    operand->head_step = step[d];
  };
  const int last = dimensions(layout) - 1;
  operand->width = size[last];
  operand->column_step = step[last];
  switch (layout) {
    case AttentionLayout::heads_first:
      samples(0);
      heads_and_columns(1);
      rows(2);
      break;
    case AttentionLayout::rows_first:
      samples(0);
      rows(1);
      heads_and_columns(2);
      break;
    case AttentionLayout::packed:
      operand->batch = 1;
      rows(0);
      heads_and_columns(1);
      break;
    case AttentionLayout::joined:
      samples(0);
      rows(1);
      break;
    case AttentionLayout::joined_rows_first:
      rows(0);
      samples(1);
      break;
    case AttentionLayout::joined_packed:
      operand->batch = 1;
      rows(0);
      break;
  }
  if (is_joined(layout)) {
    if (heads < 1 || operand->width % heads != 0)
      return fail(op, "%s has rows of %lld elements; the number must be a multiple of %lld heads",
                  name, (long long)operand->width, (long long)heads);
    operand->heads = heads;
    operand->width /= heads;
    operand->head_step = operand->width * operand->column_step;
  }
  return diopiSuccess;
}

// The query, key and value of an attention operator, with a check that their sizes agree.
struct AttentionInputs {
  AttentionLayout layout;
  AttentionOperand q, k, v;

  // `heads` is the number of query heads, for layouts that join the heads in a row.
  diopiError_t open(const char* op, diopiConstTensorHandle_t query, diopiConstTensorHandle_t key,
                    diopiConstTensorHandle_t value, AttentionLayout order, int64_t heads = 0) {
    layout = order;
    DL_TRY(attention_operand(op, "q", ref(query), layout, heads, &q));
    int64_t key_heads = heads;
    const TensorRef keys = ref(key);
    const int last = dimensions(layout) - 1;
    if (is_joined(layout) && keys.ndim == last + 1 && q.width > 0) {
      if (keys.sizes[last] % q.width != 0)
        return fail(
            op, "k has rows of %lld elements; the number must be a multiple of the head size, %lld",
            (long long)keys.sizes[last], (long long)q.width);
      key_heads = keys.sizes[last] / q.width;
    }
    DL_TRY(attention_operand(op, "k", keys, layout, key_heads, &k));
    DL_TRY(attention_operand(op, "v", ref(value), layout, key_heads, &v));
    if (k.batch != q.batch || !v.equals_except_width(k) || k.width != q.width) {
      return fail(op,
                  "sizes must agree: samples of q, k, v (%lld, %lld, %lld), heads of k, v (%lld, "
                  "%lld), rows of k, v (%lld, %lld), head sizes of q, k (%lld, %lld)",
                  (long long)q.batch, (long long)k.batch, (long long)v.batch, (long long)k.heads,
                  (long long)v.heads, (long long)k.rows, (long long)v.rows, (long long)q.width,
                  (long long)k.width);
    }
    if (k.heads < 1 || q.heads % k.heads != 0) {
      return fail(op,
                  "q has %lld heads; the number must be a multiple of the %lld heads of k and v",
                  (long long)q.heads, (long long)k.heads);
    }
    if (k.dtype != q.dtype || v.dtype != q.dtype || !is_floating(q.dtype))
      return diopiDtypeNotSupported;
    return diopiSuccess;
  }

  AttentionShape shape(double scale) const {
    AttentionShape all{};
    all.batch = q.batch;
    all.heads = q.heads;
    all.key_heads = k.heads;
    all.queries = q.rows;
    all.keys = k.rows;
    all.width = q.width;
    all.value_width = v.width;
    all.scale = scale;
    all.left = all.right = -1;
    return all;
  }

  // Open a tensor with the samples, heads and rows of `like`, and rows of `width` elements.
  diopiError_t open_like(const char* op, const char* name, diopiConstTensorHandle_t handle,
                         const AttentionOperand& like, int64_t width,
                         AttentionOperand* operand) const {
    const TensorRef tensor = ref(handle);
    if (tensor.ndim == dimensions(layout)) {
      if (tensor.dtype != q.dtype) return diopiDtypeNotSupported;
      const bool fits = !is_joined(layout) || tensor.sizes[tensor.ndim - 1] == like.heads * width;
      if (fits) {
        DL_TRY(attention_operand(op, name, tensor, layout, like.heads, operand));
        if (operand->equals_except_width(like) && operand->width == width) return diopiSuccess;
      }
    }
    return fail(op, "%s must have %lld samples, %lld heads and %lld rows of %lld", name,
                (long long)like.batch, (long long)like.heads, (long long)like.rows,
                (long long)width);
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_ATTENTION_ATTENTION_OPERANDS_H_
