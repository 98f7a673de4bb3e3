#include "library/gemm.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "diopi/types.gen.h"
#include "dl/kit/lru.h"
#include "library/blaslt_api.h"
#include "runtime/driver.h"

namespace dl::cuda {
namespace {

using namespace blaslt;

constexpr uint64_t kWorkspace = uint64_t{32} << 20;
constexpr size_t kMostPlans = 4096;

// What cuBLASLt is told of numbers of one dtype: half types are added up in float32, and float32 is
// multiplied as such, unless less will do. Compute of -1: it does not take the dtype.
struct Types {
  int data, compute, scale;
  int64_t bytes;
};
Types types_of(int dtype, bool tf32) {
  switch (dtype) {
    case diopi_dtype_float32:
      return {kFloat32, tf32 ? kComputeTf32 : kComputeFloat32, kFloat32, 4};
    case diopi_dtype_float64:
      return {kFloat64, kComputeFloat64, kFloat64, 8};
    case diopi_dtype_float16:
      return {kFloat16, kComputeFloat32, kFloat32, 2};
    case diopi_dtype_bfloat16:
      return {kBfloat16, kComputeFloat32, kFloat32, 2};
    default:
      return {0, -1, 0, 0};
  }
}

// Results are of the factors' dtype, or those of halves in the float32 that they are added up in.
bool is_a_result(const Types& factors, const Types& out) {
  return out.compute >= 0 &&
         (out.data == factors.data || (factors.bytes == 2 && out.data == kFloat32));
}

// A matrix as cuBLASLt sees it: columns one after the other, `lead` apart.
struct Place {
  int operation = kAsItIs;
  int64_t lead = 0, step = 0;
  uint32_t alignment = 0;  // bytes
};

// `rows` × `columns` by their strides; transposed where rows lie one after the other. False: it is
// dense in neither direction.
bool place(const Matrices& matrix, int64_t rows, int64_t columns, int64_t bytes, Place* found) {
  if ((matrix.row == 1 || rows == 1) && (columns == 1 || matrix.column >= rows)) {
    *found = {kAsItIs, columns == 1 ? rows : matrix.column, matrix.step, 0};
  } else if ((matrix.column == 1 || columns == 1) && (rows == 1 || matrix.row >= columns)) {
    *found = {kTransposed, rows == 1 ? columns : matrix.row, matrix.step, 0};
  } else {
    return false;
  }
  // Of every matrix of the batch.
  constexpr uint64_t kMost = 256;
  const uint64_t bits =
      reinterpret_cast<uint64_t>(matrix.data) | static_cast<uint64_t>(matrix.step * bytes) | kMost;
  found->alignment = static_cast<uint32_t>(bits & (~bits + 1));
  return true;
}

// What decides which algorithm is the best.
using Key = std::tuple<const void*, int, int, int, int64_t, int64_t, int64_t, int64_t, int, int,
                       int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, uint32_t, bool, bool>;
struct KeyHash {
  size_t operator()(const Key& key) const {
    size_t hash = 0;
    std::apply([&](const auto&... part) { ((hash = hash * 1000003u + hash_of(part)), ...); }, key);
    return hash;
  }
  template <class T>
  static size_t hash_of(const T& part) {
    return std::hash<T>()(part);
  }
};

Library& library() {
  static Library found;
  return found;
}

bool wanted() {
  static const bool answer = [] {
    if (!libraries_wanted()) return false;
    try {
      return library().has("cublasLtMatmul");
    } catch (const kit::Error&) {
      return false;
    }
  }();
  return answer;
}

// One for each thread and device: those of a thread are no other's to wait for.
class Handles {
 public:
  ~Handles() {
    for (const auto& [context, handle] : made_) (void)library().destroy(handle);
  }
  Handle get(driver::Context context) {
    Handle& found = made_[context];
    if (found == nullptr && library().create(&found) != kSuccess) found = nullptr;
    return found;
  }

 private:
  std::map<driver::Context, Handle> made_;
};

// An object of the library until it is dropped.
template <class Object>
class Owned {
 public:
  using Drop = int (*)(Object);
  explicit Owned(Drop drop) : drop_(drop) {}
  ~Owned() {
    if (object_ != nullptr) (void)drop_(object_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Object* out() { return &object_; }
  Object get() const { return object_; }

 private:
  Drop drop_;
  Object object_ = nullptr;
};
int drop_layout(Layout one) { return library().layout_drop(one); }
int drop_description(Description one) { return library().description_drop(one); }
int drop_preference(Preference one) { return library().preference_drop(one); }

// The first failure of several calls.
class Status {
 public:
  Status& operator<<(int result) {
    if (result_ == kSuccess) result_ = result;
    return *this;
  }
  bool good() const { return result_ == kSuccess; }

 private:
  int result_ = kSuccess;
};

// A product in cuBLASLt's terms, whose matrices have their columns one after the other: ours, whose
// rows are, is that of the transposed ones, cᵀ = bᵀ · aᵀ.
struct Product {
  const Gemm& call;
  Types types, out_types;
  int64_t m, n;  // of cᵀ
  const void *first_data, *second_data;
  Place first, second, out;

  Owned<Layout> first_layout{drop_layout}, second_layout{drop_layout}, out_layout{drop_layout};
  Owned<Description> description{drop_description};

  bool describe() {
    Library& lt = library();
    Status all;
    all << lt.describe(description.out(), types.compute, types.scale);
    if (!all.good()) return false;
    all << set(kTransposeA, first.operation) << set(kTransposeB, second.operation);
    if (call.bias != nullptr)
      all << set(kEpilogue, kEpilogueBias) << set(kBiasPointer, call.bias)
          << set(kBiasType, out_types.data);
    const bool straight = first.operation == kAsItIs, other = second.operation == kAsItIs;
    lay_out(all, first_layout, types, straight ? m : call.k, straight ? call.k : m, first);
    lay_out(all, second_layout, types, other ? call.k : n, other ? n : call.k, second);
    lay_out(all, out_layout, out_types, m, n, out);
    return all.good();
  }

  Key key(driver::Context context) const {
    const uint32_t alignments = first.alignment | second.alignment << 9 | out.alignment << 18;
    return {context,    call.dtype,  call.out_dtype, types.compute,       m,
            n,          call.k,      call.batch,     first.operation,     second.operation,
            first.lead, second.lead, out.lead,       first.step,          second.step,
            out.step,   alignments,  call.beta == 0, call.bias != nullptr};
  }

 private:
  template <class T>
  int set(int attribute, const T& value) {
    return library().description_set(description.get(), attribute, &value, sizeof value);
  }
  void lay_out(Status& all, Owned<Layout>& to, const Types& of, int64_t rows, int64_t columns,
               const Place& where) {
    if (!all.good()) return;
    Library& lt = library();
    const auto batch = static_cast<int32_t>(call.batch);
    all << lt.lay_out(to.out(), of.data, static_cast<uint64_t>(rows),
                      static_cast<uint64_t>(columns), where.lead);
    if (!all.good() || call.batch == 1) return;
    all << lt.layout_set(to.get(), kBatchCount, &batch, sizeof batch)
        << lt.layout_set(to.get(), kBatchOffset, &where.step, sizeof where.step);
  }
};

// What the library would do; it is asked once for products that are alike.
struct Plan {
  bool possible = false;
  Algorithm algorithm{};
  size_t workspace = 0;
};

Plan plan_of(Handle handle, const Product& product) {
  Library& lt = library();
  Owned<Preference> preference(drop_preference);
  Status all;
  all << lt.prefer(preference.out());
  if (!all.good()) return {};
  const auto set = [&](int attribute, const auto& value) {
    all << lt.preference_set(preference.get(), attribute, &value, sizeof value);
  };
  set(kMaxWorkspace, kWorkspace);
  set(kAlignmentA, product.first.alignment);
  set(kAlignmentB, product.second.alignment);
  set(kAlignmentC, product.out.alignment);
  set(kAlignmentD, product.out.alignment);
  Heuristic found{};
  int count = 0;
  all << lt.heuristic(handle, product.description.get(), product.first_layout.get(),
                      product.second_layout.get(), product.out_layout.get(),
                      product.out_layout.get(), preference.get(), 1, &found, &count);
  if (!all.good() || count == 0 || found.state != kSuccess) return {};
  return {true, found.algorithm, found.workspace};
}

bool run(const Gemm& call) {
  const Types types = types_of(call.dtype, call.tf32), out = types_of(call.out_dtype, call.tf32);
  if (types.compute < 0 || !is_a_result(types, out) || call.batch > INT32_MAX) return false;
  Product product{call, types, out, call.n, call.m, call.b.data, call.a.data, {}, {}, {}};
  const Matrices b{call.b.data, call.b.step, call.b.column, call.b.row};
  const Matrices a{call.a.data, call.a.step, call.a.column, call.a.row};
  const Matrices c{call.c.data, call.c.step, call.c.column, call.c.row};
  if (!place(b, call.n, call.k, types.bytes, &product.first) ||
      !place(a, call.k, call.m, types.bytes, &product.second) ||
      !place(c, call.n, call.m, out.bytes, &product.out) || product.out.operation != kAsItIs)
    return false;
  driver::Context context = nullptr;
  if (the_driver().context_current(&context) != driver::kSuccess) return false;
  thread_local Handles handles;
  const Handle handle = handles.get(context);
  if (handle == nullptr || !product.describe()) return false;

  static kit::Lru<Key, Plan, KeyHash> plans(kMostPlans);
  const auto plan = plans.get(product.key(context), [&] { return plan_of(handle, product); });
  if (!plan->possible) return false;
  const auto bytes = static_cast<int64_t>(plan->workspace);
  void* const workspace = bytes == 0 ? nullptr : call.workspace(bytes);
  const float narrow[] = {static_cast<float>(call.alpha), static_cast<float>(call.beta)};
  const double wide[] = {call.alpha, call.beta};
  const bool is_wide = types.scale == kFloat64;
  const void* alpha = is_wide ? static_cast<const void*>(&wide[0]) : &narrow[0];
  const void* beta = is_wide ? static_cast<const void*>(&wide[1]) : &narrow[1];
  void* const to = const_cast<void*>(call.c.data);
  return library().multiply(handle, product.description.get(), alpha, product.first_data,
                            product.first_layout.get(), product.second_data,
                            product.second_layout.get(), beta, to, product.out_layout.get(), to,
                            product.out_layout.get(), &plan->algorithm, workspace, plan->workspace,
                            call.stream) == kSuccess;
}

}  // namespace

bool gemm_by_library(const Gemm& call) {
  if (!wanted()) return false;
  if (call.c.column == 1 || call.n == 1) return run(call);
  // Columns of c lie one after the other: cᵀ is what has rows that do.
  if (call.c.row != 1 || call.bias != nullptr) return false;
  Gemm turned = call;
  std::swap(turned.m, turned.n);
  const auto transposed = [](const Matrices& of) {
    return Matrices{of.data, of.step, of.column, of.row};
  };
  turned.a = transposed(call.b);
  turned.b = transposed(call.a);
  turned.c = transposed(call.c);
  return run(turned);
}

}  // namespace dl::cuda
