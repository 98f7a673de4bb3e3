#include "library/libraries.h"
#include "library/onednn.h"

namespace dl::cpu::onednn {
namespace {

using kernels::GemmCall;
using kernels::MatrixBatch;

// Smaller products take less time than looking up an operation.
constexpr int64_t kSmallest = 16384;

// Return true if a rows × columns matrix is dense along rows or along columns.
template <class Data>
bool has_dense_lines(const MatrixBatch<Data>& matrix, int64_t rows, int64_t columns) {
  const bool by_row = (matrix.column == 1 || columns == 1) && (matrix.row >= columns || rows == 1);
  const bool by_column = (matrix.row == 1 || rows == 1) && (matrix.column >= rows || columns == 1);
  return by_row || by_column;
}

struct Layout {
  int64_t sizes[3], strides[3];
};

// In oneDNN's convention: a matrix shared by the whole batch is a batch of one, and dimensions of
// extent 1 have the strides of a contiguous matrix.
template <class Data>
Layout layout_of(const MatrixBatch<Data>& matrix, int64_t batch, int64_t rows, int64_t columns) {
  const int64_t count = matrix.step == 0 ? 1 : batch;
  const bool by_row = columns == 1 || matrix.column == 1;
  Layout layout{{count, rows, columns}, {0, matrix.row, matrix.column}};
  if (columns == 1) layout.strides[2] = 1;
  if (rows == 1) layout.strides[1] = by_row ? columns : 1;
  const int64_t extent = by_row ? rows * layout.strides[1] : columns * layout.strides[2];
  layout.strides[0] = count == 1 ? extent : matrix.step;
  return layout;
}

void add_layout(Key& key, const Layout& layout, int first) {
  for (int i = first; i < 3; ++i) {
    key.add(layout.sizes[i]);
    key.add(layout.strides[i]);
  }
}

AttributesOwner attributes_of(const GemmCall& call, DataType type) {
  const Api& api = runtime()->api;
  AttributesOwner attributes = default_attributes();
  if (attributes == nullptr || (call.alpha == 1 && call.beta == 0)) return attributes;
  PostOps* created = nullptr;
  if (api.post_ops_create(&created) != kSuccess) return nullptr;
  const PostOpsOwner steps(created);
  if (call.alpha != 1 &&
      api.post_ops_append_eltwise(created, kLinear, static_cast<float>(call.alpha), 0) != kSuccess)
    return nullptr;
  if (call.beta != 0 &&
      api.post_ops_append_sum(created, static_cast<float>(call.beta), 0, type) != kSuccess)
    return nullptr;
  if (api.primitive_attr_set_post_ops(attributes.get(), created) != kSuccess) return nullptr;
  return attributes;
}

int64_t bits_of(double value) { return kernels::bit_cast<int64_t>(value); }

}  // namespace

bool serves(diopiDtype_t dtype) { return data_type(dtype) != kUndefined && runtime() != nullptr; }

bool gemm(const kernels::Launch& launch, const GemmCall& call, Operands operands, bool chosen) {
  const DataType type = data_type(call.dtype);
  if (type == kUndefined || (!chosen && call.batch * call.m * call.n * call.k < kSmallest))
    return false;
  if (runtime() == nullptr) return false;
  if (call.c.column != 1 && call.n != 1) {
    if (call.c.row != 1 || call.bias != nullptr) return false;
    return gemm(launch,
                {call.dtype, call.out_dtype, call.batch, call.n, call.m, call.k, call.alpha,
                 call.beta, call.b.transposed(), call.a.transposed(), call.c.transposed(), nullptr},
                operands, chosen);
  }
  if (!has_dense_lines(call.a, call.m, call.k) || !has_dense_lines(call.b, call.k, call.n) ||
      !has_dense_lines(call.c, call.m, call.n) || (call.batch > 1 && call.c.step == 0))
    return false;
  const Layout a = layout_of(call.a, call.batch, call.m, call.k),
               b = layout_of(call.b, call.batch, call.k, call.n),
               c = layout_of(call.c, call.batch, call.m, call.n);
  const int first = call.batch == 1 ? 1 : 0, ndim = 3 - first;
  const bool packed = operands == Operands::kOther;
  Key key;
  for (int64_t value : {int64_t(packed ? -1 : 0), int64_t(type), int64_t(ndim), bits_of(call.alpha),
                        bits_of(call.beta), int64_t(call.bias != nullptr)})
    key.add(value);
  add_layout(key, a, first);
  add_layout(key, b, first);
  add_layout(key, c, first);
  const auto make = [&]() -> std::unique_ptr<Operation> {
    const Runtime& onednn = *runtime();
    std::vector<Port> ports;
    const auto add = [&](Argument argument, const Layout& layout) {
      ports.push_back(
          {argument, Query(0), describe(type, ndim, layout.sizes + first, layout.strides + first)});
    };
    add(kSource, a);
    add(kWeights, b);
    add(kDestination, c);
    if (call.bias != nullptr) add(kBias, {{1, 1, call.n}, {call.n, call.n, 1}});
    for (const Port& port : ports) {
      if (port.given == nullptr) return nullptr;
    }
    const AttributesOwner attributes = attributes_of(call, type);
    if (attributes == nullptr) return nullptr;
    MemoryDescOwner any;
    if (packed) {
      any = describe_any(type, ndim, b.sizes + first);
      if (any == nullptr) return nullptr;
      ports[1].query = kWeightsDesc;
    }
    PrimitiveDesc* created = nullptr;
    const Status status = onednn.api.matmul_primitive_desc_create(
        &created, onednn.engine, ports[0].given.get(), packed ? any.get() : ports[1].given.get(),
        call.bias == nullptr ? nullptr : ports[3].given.get(), ports[2].given.get(),
        attributes.get());
    if (status != kSuccess) return nullptr;
    return Operation::make(PrimitiveDescOwner(created), std::move(ports));
  };
  void* const data[] = {const_cast<void*>(call.a.data), const_cast<void*>(call.b.data), call.c.data,
                        const_cast<void*>(call.bias)};
  return run_cached(launch, key, make, data);
}

}  // namespace dl::cpu::onednn
