// Matrix products by a library like cuBLASLt; dl/kit/blaslt.h declares its functions.
//
//   Library library;
//   if (dl::kit::BlasltProducts<Library>::multiply(library, call, device)) …
#ifndef DL_KIT_BLASLT_PRODUCTS_H_
#define DL_KIT_BLASLT_PRODUCTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "diopi/types.gen.h"
#include "dl/kit/base.h"
#include "dl/kit/blaslt.h"
#include "dl/kit/gemm.h"
#include "dl/kit/lru.h"

DL_KIT_BEGIN

template <class Lt>
class BlasltProducts {
 public:
  // Returns false, without writing anything, if the library does not support the call. `device` is
  // a number that identifies the current device. The library is the only one of its type in the
  // process and is never closed.
  static bool multiply(Lt& lt, const Gemm& call, uintptr_t device) {
    if (call.c.column == 1 || call.n == 1) return run_either(lt, call, device);
    // The columns of c are contiguous, so the rows of cᵀ are: compute cᵀ = bᵀ · aᵀ.
    if (call.c.row != 1 || call.bias != nullptr) return false;
    Gemm swapped = call;
    std::swap(swapped.m, swapped.n);
    swapped.a = call.b.transposed();
    swapped.b = call.a.transposed();
    swapped.c = call.c.transposed();
    return run_either(lt, swapped, device);
  }

 private:
  using Constants = typename Lt::Constants;
  using Handle = blaslt::Handle;
  using Layout = blaslt::Layout;

  static constexpr uint64_t kWorkspace = uint64_t{32} << 20;
  static constexpr size_t kMostPlans = 4096;

  // The library's types for one dtype. Products of float16 and bfloat16 are accumulated in float32;
  // float32 is multiplied in full precision unless TF32 is allowed. `compute` is -1 if the library
  // does not support the dtype.
  struct Types {
    int data, compute, scale;
    int64_t bytes;
  };
  static Types types_of(int dtype, bool tf32) {
    switch (dtype) {
      case diopi_dtype_float32:
        return {Constants::kFloat32, tf32 ? Constants::kComputeTf32 : Constants::kComputeFloat32,
                Constants::kFloat32, 4};
      case diopi_dtype_float64:
        return {Constants::kFloat64, Constants::kComputeFloat64, Constants::kFloat64, 8};
      case diopi_dtype_float16:
        return {Constants::kFloat16, Constants::kComputeFloat32, Constants::kFloat32, 2};
      case diopi_dtype_bfloat16:
        return {Constants::kBfloat16, Constants::kComputeFloat32, Constants::kFloat32, 2};
      default:
        return {0, -1, 0, 0};
    }
  }

  // The result has the dtype of the factors, or float32 (the accumulation type) for half precision
  // factors.
  static bool is_a_result(const Types& factors, const Types& out) {
    return factors.compute >= 0 && out.compute >= 0 &&
           (out.data == factors.data || (factors.bytes == 2 && out.data == Constants::kFloat32));
  }

  // A matrix in the library's column-major terms: consecutive columns are `lead` elements apart.
  struct MatrixLayout {
    int operation = Constants::kNotTransposed;
    int64_t lead = 0, step = 0;
    uint32_t alignment = 0;  // bytes; 0 if the library does not use it
  };

  // Describes a `rows` × `columns` matrix by its strides, as transposed if its rows are contiguous.
  // Returns false if neither its rows nor its columns are.
  static bool describe_matrix(const Matrices& matrix, int64_t rows, int64_t columns, int64_t bytes,
                              MatrixLayout* found) {
    if ((matrix.row == 1 || rows == 1) && (columns == 1 || matrix.column >= rows)) {
      *found = {Constants::kNotTransposed, columns == 1 ? rows : matrix.column, matrix.step, 0};
    } else if ((matrix.column == 1 || columns == 1) && (rows == 1 || matrix.row >= columns)) {
      *found = {Constants::kTransposed, rows == 1 ? columns : matrix.row, matrix.step, 0};
    } else {
      return false;
    }
    if constexpr (Constants::kUsesAlignment) {
      // The common alignment of all matrices in the batch.
      constexpr uint64_t kMost = 256;
      const uint64_t bits = reinterpret_cast<uint64_t>(matrix.data) |
                            static_cast<uint64_t>(matrix.step * bytes) | kMost;
      found->alignment = static_cast<uint32_t>(bits & (~bits + 1));
    }
    return true;
  }

  // Key of the plan cache: everything that affects the choice of algorithm.
  using Key =
      std::tuple<uintptr_t, int, int, int, int64_t, int64_t, int64_t, int64_t, int, int, int64_t,
                 int64_t, int64_t, int64_t, int64_t, int64_t, uint32_t, bool, bool>;
  struct KeyHash {
    size_t operator()(const Key& key) const {
      size_t hash = 0;
      std::apply([&](const auto&... part) { ((hash = hash * 1000003u + hash_of(part)), ...); },
                 key);
      return hash;
    }
    template <class T>
    static size_t hash_of(const T& part) {
      return std::hash<T>()(part);
    }
  };

  // Library handles of one thread, one for each device. Threads do not share handles, so they never
  // wait for each other.
  class Handles {
   public:
    explicit Handles(Lt& lt) : lt_(lt) {}
    ~Handles() {
      for (const auto& [device, handle] : made_) (void)lt_.destroy(handle);
    }
    Handle get(uintptr_t device) {
      Handle& found = made_[device];
      if (found == nullptr && lt_.create(&found) != Constants::kSuccess) found = nullptr;
      return found;
    }

   private:
    Lt& lt_;
    std::map<uintptr_t, Handle> made_;
  };

  // Owner of a library object, which the destructor destroys.
  template <class Object>
  class Owned {
   public:
    using Destroy = Symbol<int (*)(Object)>;
    explicit Owned(const Destroy& destroy) : destroy_(destroy) {}
    ~Owned() {
      if (object_ != nullptr) (void)destroy_(object_);
    }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    Object* out() { return &object_; }
    Object get() const { return object_; }

   private:
    const Destroy& destroy_;
    Object object_ = nullptr;
  };

  // Collects the results of several calls and keeps the first failure.
  class Status {
   public:
    Status& operator<<(int result) {
      if (result_ == Constants::kSuccess) result_ = result;
      return *this;
    }
    bool good() const { return result_ == Constants::kSuccess; }

   private:
    int result_ = Constants::kSuccess;
  };

  // A product in the library's column-major terms. Our matrices are row-major, so we compute the
  // transposed product cᵀ = bᵀ · aᵀ.
  struct Product {
    Lt& lt;
    const Gemm& call;
    Types types, out_types;
    int64_t m, n;  // of cᵀ
    const void *first_data, *second_data;
    MatrixLayout first{}, second{}, out{};

    Owned<Layout> first_layout{lt.layout_destroy}, second_layout{lt.layout_destroy},
        out_layout{lt.layout_destroy};
    Owned<blaslt::Description> description{lt.description_destroy};

    bool describe() {
      Status all;
      all << lt.description_create(description.out(), types.compute, types.scale);
      if (!all.good()) return false;
      all << set(Constants::kTransposeA, first.operation)
          << set(Constants::kTransposeB, second.operation);
      if (call.bias != nullptr)
        all << set(Constants::kEpilogue, int{Constants::kEpilogueBias})
            << set(Constants::kBiasPointer, call.bias) << set(Constants::kBiasType, out_types.data);
      const bool first_is_plain = first.operation == Constants::kNotTransposed;
      const bool second_is_plain = second.operation == Constants::kNotTransposed;
      create_layout(all, first_layout, types, first_is_plain ? m : call.k,
                    first_is_plain ? call.k : m, first);
      create_layout(all, second_layout, types, second_is_plain ? call.k : n,
                    second_is_plain ? n : call.k, second);
      create_layout(all, out_layout, out_types, m, n, out);
      return all.good();
    }

    Key key(uintptr_t device) const {
      const uint32_t alignments = first.alignment | second.alignment << 9 | out.alignment << 18;
      return {device,     call.dtype,  call.out_dtype, types.compute,       m,
              n,          call.k,      call.batch,     first.operation,     second.operation,
              first.lead, second.lead, out.lead,       first.step,          second.step,
              out.step,   alignments,  call.beta == 0, call.bias != nullptr};
    }

   private:
    template <class T>
    int set(int attribute, const T& value) {
      return lt.description_set(description.get(), attribute, &value, sizeof value);
    }
    void create_layout(Status& all, Owned<Layout>& to, const Types& of, int64_t rows,
                       int64_t columns, const MatrixLayout& where) {
      if (!all.good()) return;
      const auto batch = static_cast<int32_t>(call.batch);
      all << lt.layout_create(to.out(), of.data, static_cast<uint64_t>(rows),
                              static_cast<uint64_t>(columns), where.lead);
      if (!all.good() || call.batch == 1) return;
      all << lt.layout_set(to.get(), Constants::kBatchCount, &batch, sizeof batch)
          << lt.layout_set(to.get(), Constants::kBatchOffset, &where.step, sizeof where.step);
    }
  };

  // The library's choice of algorithm; cached for products with the same key.
  struct Plan {
    bool possible = false;
    blaslt::Algorithm<Constants::kAlgorithmBytes> algorithm{};
    size_t workspace = 0;
  };

  static Plan plan_of(Lt& lt, Handle handle, const Product& product) {
    Owned<blaslt::Preference> preference(lt.preference_destroy);
    Status all;
    all << lt.preference_create(preference.out());
    if (!all.good()) return {};
    const auto set = [&](int attribute, const auto& value) {
      all << lt.preference_set(preference.get(), attribute, &value, sizeof value);
    };
    set(Constants::kMaxWorkspace, kWorkspace);
    if constexpr (Constants::kUsesReductionScheme)
      set(Constants::kReductionSchemes, uint32_t{Constants::kReducesInComputeType});
    if constexpr (Constants::kUsesAlignment) {
      set(Constants::kAlignmentA, product.first.alignment);
      set(Constants::kAlignmentB, product.second.alignment);
      set(Constants::kAlignmentC, product.out.alignment);
      set(Constants::kAlignmentD, product.out.alignment);
    }
    blaslt::Heuristic<Constants::kAlgorithmBytes> found{};
    int count = 0;
    all << lt.heuristic(handle, product.description.get(), product.first_layout.get(),
                        product.second_layout.get(), product.out_layout.get(),
                        product.out_layout.get(), preference.get(), 1, &found, &count);
    if (!all.good() || count == 0 || found.state != Constants::kSuccess) return {};
    return {true, found.algorithm, found.workspace};
  }

  // GPUs without TF32 refuse it; then multiply in full float32.
  static bool run_either(Lt& lt, const Gemm& call, uintptr_t device) {
    if (run(lt, call, device)) return true;
    if (!call.tf32 || call.dtype != diopi_dtype_float32) return false;
    Gemm exact = call;
    exact.tf32 = false;
    return run(lt, exact, device);
  }

  static bool run(Lt& lt, const Gemm& call, uintptr_t device) {
    const Types types = types_of(call.dtype, call.tf32), out = types_of(call.out_dtype, call.tf32);
    if (!is_a_result(types, out) || call.batch > INT32_MAX) return false;
    const bool rounds = Constants::kRoundsBeforeAdding && out.bytes == 2;
    if (rounds && call.beta != 0) return false;
    Product product{lt, call, types, out, call.n, call.m, call.b.data, call.a.data};
    if (!describe_matrix(call.b.transposed(), call.n, call.k, types.bytes, &product.first) ||
        !describe_matrix(call.a.transposed(), call.k, call.m, types.bytes, &product.second) ||
        !describe_matrix(call.c.transposed(), call.n, call.m, out.bytes, &product.out) ||
        product.out.operation != Constants::kNotTransposed)
      return false;
    const auto in_vectors = [](const MatrixLayout& layout) { return layout.lead % 8 == 0; };
    if (rounds && call.bias != nullptr &&
        !(in_vectors(product.first) && in_vectors(product.second) && in_vectors(product.out)))
      return false;
    thread_local Handles handles(lt);
    const Handle handle = handles.get(device);
    if (handle == nullptr || !product.describe()) return false;

    static Lru<Key, Plan, KeyHash> plans(kMostPlans);
    const auto plan = plans.get(product.key(device), [&] { return plan_of(lt, handle, product); });
    if (!plan->possible) return false;
    const auto bytes = static_cast<int64_t>(plan->workspace);
    void* const workspace = bytes == 0 ? nullptr : call.workspace(bytes);
    const float narrow[] = {static_cast<float>(call.alpha), static_cast<float>(call.beta)};
    const double wide[] = {call.alpha, call.beta};
    const bool is_wide = types.scale == Constants::kFloat64;
    const void* alpha = is_wide ? static_cast<const void*>(&wide[0]) : &narrow[0];
    const void* beta = is_wide ? static_cast<const void*>(&wide[1]) : &narrow[1];
    void* const to = const_cast<void*>(call.c.data);
    return lt.multiply(handle, product.description.get(), alpha, product.first_data,
                       product.first_layout.get(), product.second_data, product.second_layout.get(),
                       beta, to, product.out_layout.get(), to, product.out_layout.get(),
                       &plan->algorithm, workspace, plan->workspace,
                       call.stream) == Constants::kSuccess;
  }
};

DL_KIT_END

#endif  // DL_KIT_BLASLT_PRODUCTS_H_
