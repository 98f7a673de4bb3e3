// Products of matrices by a library in the shape of cuBLASLt: dl/kit/blaslt.h has its functions.
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
  // False, and nothing was written: the library does not take it. `device` is a number that the
  // current device alone has. The library is the process's only one of its type, and stays.
  static bool multiply(Lt& lt, const Gemm& call, uintptr_t device) {
    if (call.c.column == 1 || call.n == 1) return run_either(lt, call, device);
    // Columns of c lie one after the other: cᵀ is what has rows that do.
    if (call.c.row != 1 || call.bias != nullptr) return false;
    Gemm turned = call;
    std::swap(turned.m, turned.n);
    turned.a = call.b.transposed();
    turned.b = call.a.transposed();
    turned.c = call.c.transposed();
    return run_either(lt, turned, device);
  }

 private:
  using Numbers = typename Lt::Numbers;
  using Handle = blaslt::Handle;
  using Layout = blaslt::Layout;

  static constexpr uint64_t kWorkspace = uint64_t{32} << 20;
  static constexpr size_t kMostPlans = 4096;

  // What the library is told of numbers of one dtype: half types are added up in float32, and
  // float32 is multiplied as such, unless less will do. Compute of -1: it does not take the dtype.
  struct Types {
    int data, compute, scale;
    int64_t bytes;
  };
  static Types types_of(int dtype, bool tf32) {
    switch (dtype) {
      case diopi_dtype_float32:
        return {Numbers::kFloat32, tf32 ? Numbers::kComputeTf32 : Numbers::kComputeFloat32,
                Numbers::kFloat32, 4};
      case diopi_dtype_float64:
        return {Numbers::kFloat64, Numbers::kComputeFloat64, Numbers::kFloat64, 8};
      case diopi_dtype_float16:
        return {Numbers::kFloat16, Numbers::kComputeFloat32, Numbers::kFloat32, 2};
      case diopi_dtype_bfloat16:
        return {Numbers::kBfloat16, Numbers::kComputeFloat32, Numbers::kFloat32, 2};
      default:
        return {0, -1, 0, 0};
    }
  }

  // Results are of the factors' dtype, or those of halves in the float32 that they are added up in.
  static bool is_a_result(const Types& factors, const Types& out) {
    return factors.compute >= 0 && out.compute >= 0 &&
           (out.data == factors.data || (factors.bytes == 2 && out.data == Numbers::kFloat32));
  }

  // A matrix as the library sees it: columns one after the other, `lead` apart.
  struct Place {
    int operation = Numbers::kAsItIs;
    int64_t lead = 0, step = 0;
    uint32_t alignment = 0;  // bytes; 0 where the library does not ask
  };

  // `rows` × `columns` by their strides; transposed where rows lie one after the other. False: it
  // is dense in neither direction.
  static bool place(const Matrices& matrix, int64_t rows, int64_t columns, int64_t bytes,
                    Place* found) {
    if ((matrix.row == 1 || rows == 1) && (columns == 1 || matrix.column >= rows)) {
      *found = {Numbers::kAsItIs, columns == 1 ? rows : matrix.column, matrix.step, 0};
    } else if ((matrix.column == 1 || columns == 1) && (rows == 1 || matrix.row >= columns)) {
      *found = {Numbers::kTransposed, rows == 1 ? columns : matrix.row, matrix.step, 0};
    } else {
      return false;
    }
    if constexpr (Numbers::kAsksForAlignment) {
      // Of every matrix of the batch.
      constexpr uint64_t kMost = 256;
      const uint64_t bits = reinterpret_cast<uint64_t>(matrix.data) |
                            static_cast<uint64_t>(matrix.step * bytes) | kMost;
      found->alignment = static_cast<uint32_t>(bits & (~bits + 1));
    }
    return true;
  }

  // What decides which algorithm is the best.
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

  // One for each thread and device: those of a thread are no other's to wait for.
  class Handles {
   public:
    explicit Handles(Lt& lt) : lt_(lt) {}
    ~Handles() {
      for (const auto& [device, handle] : made_) (void)lt_.destroy(handle);
    }
    Handle get(uintptr_t device) {
      Handle& found = made_[device];
      if (found == nullptr && lt_.create(&found) != Numbers::kSuccess) found = nullptr;
      return found;
    }

   private:
    Lt& lt_;
    std::map<uintptr_t, Handle> made_;
  };

  // An object of the library until it is dropped.
  template <class Object>
  class Owned {
   public:
    using Drop = Symbol<int (*)(Object)>;
    explicit Owned(const Drop& drop) : drop_(drop) {}
    ~Owned() {
      if (object_ != nullptr) (void)drop_(object_);
    }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    Object* out() { return &object_; }
    Object get() const { return object_; }

   private:
    const Drop& drop_;
    Object object_ = nullptr;
  };

  // The first failure of several calls.
  class Status {
   public:
    Status& operator<<(int result) {
      if (result_ == Numbers::kSuccess) result_ = result;
      return *this;
    }
    bool good() const { return result_ == Numbers::kSuccess; }

   private:
    int result_ = Numbers::kSuccess;
  };

  // A product in the library's terms, whose matrices have their columns one after the other: ours,
  // whose rows are, is that of the transposed ones, cᵀ = bᵀ · aᵀ.
  struct Product {
    Lt& lt;
    const Gemm& call;
    Types types, out_types;
    int64_t m, n;  // of cᵀ
    const void *first_data, *second_data;
    Place first{}, second{}, out{};

    Owned<Layout> first_layout{lt.layout_drop}, second_layout{lt.layout_drop},
        out_layout{lt.layout_drop};
    Owned<blaslt::Description> description{lt.description_drop};

    bool describe() {
      Status all;
      all << lt.describe(description.out(), types.compute, types.scale);
      if (!all.good()) return false;
      all << set(Numbers::kTransposeA, first.operation)
          << set(Numbers::kTransposeB, second.operation);
      if (call.bias != nullptr)
        all << set(Numbers::kEpilogue, int{Numbers::kEpilogueBias})
            << set(Numbers::kBiasPointer, call.bias) << set(Numbers::kBiasType, out_types.data);
      const bool straight = first.operation == Numbers::kAsItIs;
      const bool other = second.operation == Numbers::kAsItIs;
      lay_out(all, first_layout, types, straight ? m : call.k, straight ? call.k : m, first);
      lay_out(all, second_layout, types, other ? call.k : n, other ? n : call.k, second);
      lay_out(all, out_layout, out_types, m, n, out);
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
    void lay_out(Status& all, Owned<Layout>& to, const Types& of, int64_t rows, int64_t columns,
                 const Place& where) {
      if (!all.good()) return;
      const auto batch = static_cast<int32_t>(call.batch);
      all << lt.lay_out(to.out(), of.data, static_cast<uint64_t>(rows),
                        static_cast<uint64_t>(columns), where.lead);
      if (!all.good() || call.batch == 1) return;
      all << lt.layout_set(to.get(), Numbers::kBatchCount, &batch, sizeof batch)
          << lt.layout_set(to.get(), Numbers::kBatchOffset, &where.step, sizeof where.step);
    }
  };

  // What the library would do; it is asked once for products that are alike.
  struct Plan {
    bool possible = false;
    blaslt::Algorithm<Numbers::kAlgorithmBytes> algorithm{};
    size_t workspace = 0;
  };

  static Plan plan_of(Lt& lt, Handle handle, const Product& product) {
    Owned<blaslt::Preference> preference(lt.preference_drop);
    Status all;
    all << lt.prefer(preference.out());
    if (!all.good()) return {};
    const auto set = [&](int attribute, const auto& value) {
      all << lt.preference_set(preference.get(), attribute, &value, sizeof value);
    };
    set(Numbers::kMaxWorkspace, kWorkspace);
    if constexpr (Numbers::kAsksForReduction)
      set(Numbers::kReductionSchemes, uint32_t{Numbers::kReducesInComputeType});
    if constexpr (Numbers::kAsksForAlignment) {
      set(Numbers::kAlignmentA, product.first.alignment);
      set(Numbers::kAlignmentB, product.second.alignment);
      set(Numbers::kAlignmentC, product.out.alignment);
      set(Numbers::kAlignmentD, product.out.alignment);
    }
    blaslt::Heuristic<Numbers::kAlgorithmBytes> found{};
    int count = 0;
    all << lt.heuristic(handle, product.description.get(), product.first_layout.get(),
                        product.second_layout.get(), product.out_layout.get(),
                        product.out_layout.get(), preference.get(), 1, &found, &count);
    if (!all.good() || count == 0 || found.state != Numbers::kSuccess) return {};
    return {true, found.algorithm, found.workspace};
  }

  // A card that does not round factors to TF32 multiplies them as they are.
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
    const bool rounds = Numbers::kRoundsBeforeAdding && out.bytes == 2;
    if (rounds && call.beta != 0) return false;
    Product product{lt, call, types, out, call.n, call.m, call.b.data, call.a.data};
    if (!place(call.b.transposed(), call.n, call.k, types.bytes, &product.first) ||
        !place(call.a.transposed(), call.k, call.m, types.bytes, &product.second) ||
        !place(call.c.transposed(), call.n, call.m, out.bytes, &product.out) ||
        product.out.operation != Numbers::kAsItIs)
      return false;
    const auto in_vectors = [](const Place& place) { return place.lead % 8 == 0; };
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
    const bool is_wide = types.scale == Numbers::kFloat64;
    const void* alpha = is_wide ? static_cast<const void*>(&wide[0]) : &narrow[0];
    const void* beta = is_wide ? static_cast<const void*>(&wide[1]) : &narrow[1];
    void* const to = const_cast<void*>(call.c.data);
    return lt.multiply(handle, product.description.get(), alpha, product.first_data,
                       product.first_layout.get(), product.second_data, product.second_layout.get(),
                       beta, to, product.out_layout.get(), to, product.out_layout.get(),
                       &plan->algorithm, workspace, plan->workspace,
                       call.stream) == Numbers::kSuccess;
  }
};

DL_KIT_END

#endif  // DL_KIT_BLASLT_PRODUCTS_H_
