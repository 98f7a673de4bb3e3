// Compares the collectives of a block with sequential loops; the exit status is 0 if they agree.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "dl_kernels/gpu/column_reduction.h"
#include "dl_kernels/gpu/parts/attention.inc"
#include "dl_kernels/gpu/parts/gemm.inc"
#include "dl_kernels/parallel/block.h"
#include "dl_kernels/reduce/reduce.h"
#include "dl_kernels/sort/sort.h"

using namespace dl::kernels;

namespace {

constexpr int64_t kRows = 9, kWidth = 300;

// Three consecutive collectives that use the same scratch memory.
struct CollectivesRow {
  const int64_t* in;
  int64_t* sums;
  int64_t* tops;
  int64_t* scans;

  template <class B>
  DL_FN void operator()(const B& block, int64_t row) const {
    const int64_t* x = in + row * kWidth;
    int64_t* y = scans + row * kWidth;
    const int64_t sum = block.sum(kWidth, [=](int64_t i) { return x[i]; });
    const int64_t top = block.reduce(
        kWidth, int64_t(-1), [](int64_t a, int64_t b) { return a > b ? a : b; },
        [=](int64_t i) { return x[i]; });
    block.template scan<int64_t>(
        kWidth, [=](int64_t i) { return x[i]; }, [](int64_t a, int64_t b) { return a + b; },
        [=](int64_t i, int64_t total) { y[i] = total; });
    // Check the result in every thread, not only in the one that writes it.
    int64_t* s = sums + row * kWidth;
    int64_t* t = tops + row * kWidth;
    block.map(kWidth, [=](int64_t i) {
      s[i] = sum;
      t[i] = top;
    });
  }
};

template <class T>
T* on_device(const std::vector<T>& values) {
  T* memory = static_cast<T*>(emulation::allocate(values.size() * sizeof(T)));
  emulation::copy_now(memory, values.data(), values.size() * sizeof(T));
  return memory;
}

template <class T>
std::vector<T> on_host(const T* memory, size_t count) {
  std::vector<T> values(count);
  emulation::copy_now(values.data(), memory, count * sizeof(T));
  return values;
}

bool collectives_agree(const Launch& launch, bool by_warp) {
  std::vector<int64_t> in(kRows * kWidth);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int64_t>(i * 7919 % 1009);
  const std::vector<int64_t> empty(in.size());
  const CollectivesRow kernel{on_device(in), on_device(empty), on_device(empty), on_device(empty)};
  // There are fewer blocks than rows, so that a block reuses its scratch memory.
  gpu::run_blocks(launch.stream(), 2, gpu::row_kernel<CollectivesRow>, kRows, by_warp, kernel);
  const auto sums = on_host(kernel.sums, in.size()), tops = on_host(kernel.tops, in.size()),
             scans = on_host(kernel.scans, in.size());
  bool good = true;
  for (int64_t row = 0; row < kRows; ++row) {
    int64_t sum = 0, top = -1;
    for (int64_t i = row * kWidth; i < (row + 1) * kWidth; ++i) {
      sum += in[static_cast<size_t>(i)];
      top = in[static_cast<size_t>(i)] > top ? in[static_cast<size_t>(i)] : top;
      good = good && scans[static_cast<size_t>(i)] == sum;
    }
    for (int64_t i = row * kWidth; i < (row + 1) * kWidth; ++i)
      good = good && sums[static_cast<size_t>(i)] == sum && tops[static_cast<size_t>(i)] == top;
  }
  return good;
}

// Consecutive collectives of the lines of a block, which use the same scratch memory.
struct LinesColumn {
  const int64_t* in;
  int64_t* results;  // of each line: the sum, the sum of the lines before it, the sum again
  int64_t count, n;

  void operator()(const gpu::ColumnGroup& team, int64_t column, bool live) const {
    const auto add = [](int64_t a, int64_t b) { return a + b; };
    int64_t mine = 0;
    team.map(n, [&](int64_t i) { mine += in[i * count + column]; });
    const int64_t all = team.all_reduce(mine, add), before = team.sum_before(mine),
                  twice = team.all_reduce(2 * mine, add);
    if (!live) return;
    int64_t* to = results + (column * team.lines() + team.line()) * 3;
    to[0] = all;
    to[1] = before;
    to[2] = twice;
  }
};

bool lines_agree(const Launch& launch) {
  constexpr int64_t count = 50, n = 70;
  const int lanes = 8, lines = gpu::kThreads / lanes;
  std::vector<int64_t> in(count * n);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int64_t>(i * 7919 % 1009);
  const LinesColumn kernel{on_device(in), on_device(std::vector<int64_t>(count * lines * 3)), count,
                           n};
  gpu::run_blocks(launch.stream(), 2, gpu::columns_kernel<LinesColumn>, count, lanes, kernel);
  const auto results = on_host(kernel.results, static_cast<size_t>(count * lines * 3));
  for (int64_t column = 0; column < count; ++column) {
    int64_t all = 0, before = 0;
    for (int64_t i = 0; i < n; ++i) all += in[static_cast<size_t>(i * count + column)];
    for (int line = 0; line < lines; ++line) {
      const int64_t* got = results.data() + (column * lines + line) * 3;
      if (got[0] != all || got[1] != before || got[2] != 2 * all) return false;
      for (int64_t i = line; i < n; i += lines)
        before += in[static_cast<size_t>(i * count + column)];
    }
  }
  return true;
}

// Sums over the first or the last dimension of `outer` matrices of `rows` rows and `columns`
// columns, stored `apart` elements after a vector boundary. `blocks` of columns: fewer than in a
// real launch, so that scratch memory is reused.
bool sums_agree(const Launch& launch, int64_t outer, int64_t rows, int64_t columns, int64_t apart,
                bool of_columns, int64_t blocks = 0) {
  std::vector<int32_t> in(static_cast<size_t>(outer * rows * columns + apart));
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int32_t>(i * 7919 % 1009);
  const int64_t kept = of_columns ? columns : rows, reduced = of_columns ? rows : columns;
  ReducePlan plan{};
  plan.kept = {
      2, outer * kept, {outer, kept}, {{kept, 1}, {rows * columns, of_columns ? 1 : columns}}};
  plan.reduced = {1, reduced, {reduced}, {{of_columns ? columns : 1}}};
  simplify(plan.kept);
  simplify(plan.reduced);
  Store<int64_t> store{on_device(std::vector<int64_t>(static_cast<size_t>(outer * kept))),
                       diopi_dtype_int64};
  const int32_t* from = static_cast<const int32_t*>(on_device(in)) + apart;
  if (blocks == 0) {
    run_reduce(launch, SumReducer<int64_t>{}, plan, from, store);
  } else {
    const gpu::Reduction<int32_t, SumReducer<int64_t>> job{
        {}, from, plan.kept, plan.reduced, store, 1, nullptr, 0, 1, 0, 1};
    gpu::ColumnPartition partition = gpu::column_partition(plan, from);
    partition.rows = rows;
    gpu::run_blocks(launch.stream(), blocks,
                    gpu::reduce_columns_kernel<int32_t, SumReducer<int64_t>>, job, partition);
  }
  const auto results =
      on_host(static_cast<const int64_t*>(store.data), static_cast<size_t>(outer * kept));
  for (int64_t k = 0; k < outer * kept; ++k) {
    const int64_t first = k / kept * rows * columns + k % kept * (of_columns ? 1 : columns) + apart;
    int64_t sum = 0;
    for (int64_t i = 0; i < reduced; ++i)
      sum += in[static_cast<size_t>(first + i * (of_columns ? columns : 1))];
    if (results[static_cast<size_t>(k)] != sum) return false;
  }
  return true;
}

bool all_sums_agree(const Launch& launch) {
  if (!sums_agree(launch, 5, 37, 300, 0, true, 2)) return false;
  for (const bool of_columns : {false, true}) {
    for (const int64_t apart : {0, 1, 3}) {
      for (const int64_t width : {1, 5, 64, 300}) {
        if (!sums_agree(launch, 3, 37, width, apart, of_columns)) return false;
        if (!sums_agree(launch, 1, width, 70, apart, of_columns)) return false;
      }
    }
    // Long enough for several ranges.
    if (!sums_agree(launch, 1, of_columns ? 9000 : 2, of_columns ? 6 : 20000, 1, of_columns))
      return false;
  }
  return true;
}

bool products_agree(const Launch& launch) {
  constexpr int64_t m = 19, n = 13, k = 29;
  std::vector<int32_t> a(m * k), b(k * n);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<int32_t>(i % 17);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<int32_t>(i % 23);
  int32_t* c = on_device(std::vector<int32_t>(m * n));
  gemm<int32_t>(launch, m, n, k, 1, Matrix<const int32_t>{on_device(a), k, 1},
                Matrix<const int32_t>{on_device(b), n, 1}, 0, Matrix<int32_t>{c, n, 1});
  const auto result = on_host(c, m * n);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      int32_t total = 0;
      for (int64_t l = 0; l < k; ++l)
        total += a[static_cast<size_t>(i * k + l)] * b[static_cast<size_t>(l * n + j)];
      if (result[static_cast<size_t>(i * n + j)] != total) return false;
    }
  }
  return true;
}

// Sort `count` rows of `n` elements, many of them equal.
bool sorts_agree(const Launch& launch, int64_t count, int64_t n) {
  std::vector<int32_t> in(static_cast<size_t>(count * n));
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int32_t>(i * 7919 % 1009 % 300);
  int64_t* positions = on_device(std::vector<int64_t>(in.size()));
  const auto status = sort_along<int32_t>(launch, {false}, dense_rows(count, n, n), on_device(in),
                                          nullptr, positions);
  const auto result = on_host(positions, in.size());
  std::vector<int64_t> wanted(static_cast<size_t>(n));
  for (int64_t row = 0; row < count; ++row) {
    const int32_t* x = in.data() + row * n;
    std::iota(wanted.begin(), wanted.end(), 0);
    std::stable_sort(wanted.begin(), wanted.end(),
                     [x](int64_t a, int64_t b) { return x[a] < x[b]; });
    if (!std::equal(wanted.begin(), wanted.end(), result.begin() + row * n)) return false;
  }
  return status == diopiSuccess;
}

// Several tiles of queries, keys and columns of the values, and several slices of each product.
bool attention_agrees(const Launch& launch) {
  constexpr int64_t queries = 40, keys = 70, width = 20, values = 36;
  const auto numbers = [](int64_t count, int64_t modulus) {
    std::vector<float> made(static_cast<size_t>(count));
    for (size_t i = 0; i < made.size(); ++i)
      made[i] = static_cast<float>(static_cast<int64_t>(i * 7919) % modulus) / 100.0f - 0.5f;
    return made;
  };
  const auto q = numbers(queries * width, 97), k = numbers(keys * width, 101),
             v = numbers(keys * values, 103);
  float* out = on_device(std::vector<float>(queries * values));
  attention<float>(
      launch, AttentionShape{1, 1, 1, queries, keys, width, values, 1.0, -1, -1, false, nullptr},
      Strided4<const float>{on_device(q), 0, 0, width, 1},
      Strided4<const float>{on_device(k), 0, 0, width, 1},
      Strided4<const float>{on_device(v), 0, 0, values, 1}, AttentionMask{}, AttentionDropout{},
      Strided4<float>{out, 0, 0, values, 1}, Strided4<float>{});
  const auto result = on_host(out, queries * values);
  for (int64_t i = 0; i < queries; ++i) {
    std::vector<double> wanted(values);
    double total = 0;
    for (int64_t j = 0; j < keys; ++j) {
      double score = 0;
      for (int64_t d = 0; d < width; ++d)
        score += double(q[static_cast<size_t>(i * width + d)]) *
                 double(k[static_cast<size_t>(j * width + d)]);
      const double weight = std::exp(score);
      total += weight;
      for (int64_t d = 0; d < values; ++d)
        wanted[static_cast<size_t>(d)] += weight * double(v[static_cast<size_t>(j * values + d)]);
    }
    for (int64_t d = 0; d < values; ++d) {
      const double got = double(result[static_cast<size_t>(i * values + d)]);
      if (!(std::abs(got - wanted[static_cast<size_t>(d)] / total) < 1e-5)) return false;
    }
  }
  return true;
}

// A host that frees scratch memory only when the process ends.
diopiError_t require_buffer(diopiContextHandle_t, diopiTensorHandle_t* tensor, int64_t bytes,
                            diopiDevice_t) {
  auto* buffer = new dl_tensor_prefix_t{};
  buffer->magic = DL_TENSOR_MAGIC;
  buffer->version = DL_PREFIX_VERSION;
  buffer->data = emulation::allocate(static_cast<size_t>(bytes));
  *tensor = reinterpret_cast<diopiTensorHandle_t>(buffer);
  return diopiSuccess;
}

diopiError_t refuse_buffer(diopiContextHandle_t, diopiTensorHandle_t*, int64_t, diopiDevice_t) {
  return diopiErrorOccurred;
}

dl_context_prefix_t context_of(const dl_handle_ops_t& ops) {
  dl_context_prefix_t context{};
  context.magic = DL_CONTEXT_MAGIC;
  context.version = DL_PREFIX_VERSION;
  context.ops = &ops;
  return context;
}

// Loops request memory from the host once, and report its failure.
bool scratch_is_the_hosts(const Launch& launch) {
  const void* first = nullptr;
  for (int i = 0; i < 3; ++i) {
    const Workspace<float> outer(launch, 10), inner(launch, 10), none(launch, 0);
    if (outer.data() == inner.data() || none.data() != nullptr) return false;
    if (i > 0 && outer.data() != first) return false;
    first = outer.data();
  }
  dl_handle_ops_t ops{};
  ops.struct_size = sizeof(ops);
  ops.require_buffer = refuse_buffer;
  dl_context_prefix_t context = context_of(ops);
  const Launch refused(reinterpret_cast<diopiContextHandle_t>(&context));
  const Workspace<float> nothing(refused, 0);
  try {
    const Workspace<float> some(refused, 10);
  } catch (const std::runtime_error& error) {
    return std::string(error.what()) == "the host did not allocate 40 bytes of scratch memory";
  }
  return false;
}

}  // namespace

int main() {
  dl_handle_ops_t ops{};
  ops.struct_size = sizeof(ops);
  ops.require_buffer = require_buffer;
  dl_context_prefix_t context = context_of(ops);
  const Launch launch(reinterpret_cast<diopiContextHandle_t>(&context));
  if (!scratch_is_the_hosts(launch)) {
    std::puts("requests of scratch memory are wrong");
    return 1;
  }
  if (!collectives_agree(launch, false) || !collectives_agree(launch, true)) {
    std::puts("the collectives of a block differ from the reference loops");
    return 1;
  }
  if (!lines_agree(launch)) {
    std::puts("the collectives of the lines of a block differ from the reference loops");
    return 1;
  }
  if (!all_sums_agree(launch)) {
    std::puts("reductions differ from the reference loops");
    return 1;
  }
  if (!products_agree(launch)) {
    std::puts("the matrix product differs from the reference loops");
    return 1;
  }
  // Rows of several tiles, and tiles of several rows.
  if (!sorts_agree(launch, 2, 3 * gpu::kSortTile + 5) || !sorts_agree(launch, 99, 11)) {
    std::puts("sorted rows do not agree with the standard library's");
    return 1;
  }
  if (!attention_agrees(launch)) {
    std::puts("attention differs from the reference loops");
    return 1;
  }
  return 0;
}
