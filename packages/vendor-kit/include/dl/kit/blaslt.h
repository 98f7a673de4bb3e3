// The cuBLASLt functions that matrix products call. hipBLASLt has the same functions under its own
// prefix. A vendor describes the differences in `Constants`: the enumerators and the size of an
// algorithm.
//
//   struct Constants {
//     enum : int { kSuccess = 0, kFloat32 = 0, … };  // all that dl/kit/blaslt_products.h names
//     static constexpr size_t kAlgorithmBytes = 64;
//   };
//   class Library : public dl::kit::Library {
//     DL_KIT_BLASLT_MEMBERS(cublasLt, Constants)
//   };
#ifndef DL_KIT_BLASLT_H_
#define DL_KIT_BLASLT_H_

#include <cstddef>
#include <cstdint>

#include "dl/kit/base.h"
#include "dl/kit/symbols.h"

DL_KIT_BEGIN

namespace blaslt {

using Handle = struct HandleObject*;
using Description = struct DescriptionObject*;
using Layout = struct LayoutObject*;
using Preference = struct PreferenceObject*;

template <size_t kBytes>
struct Algorithm {
  uint64_t data[kBytes / 8];
};
template <size_t kBytes>
struct Heuristic {
  Algorithm<kBytes> algorithm;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

}  // namespace blaslt

DL_KIT_END

// X(member name, symbol, type)
// clang-format off
#define DL_KIT_BLASLT_FUNCTIONS(X, prefix, bytes)                                                  \
  X(create, prefix##Create, int (*)(::dl::kit::blaslt::Handle*))                                   \
  X(destroy, prefix##Destroy, int (*)(::dl::kit::blaslt::Handle))                                  \
  X(description_create, prefix##MatmulDescCreate, int (*)(::dl::kit::blaslt::Description*, int, int))        \
  X(description_destroy, prefix##MatmulDescDestroy, int (*)(::dl::kit::blaslt::Description))          \
  X(description_set, prefix##MatmulDescSetAttribute,                                               \
    int (*)(::dl::kit::blaslt::Description, int, const void*, size_t))                             \
  X(layout_create, prefix##MatrixLayoutCreate,                                                           \
    int (*)(::dl::kit::blaslt::Layout*, int, uint64_t, uint64_t, int64_t))                         \
  X(layout_destroy, prefix##MatrixLayoutDestroy, int (*)(::dl::kit::blaslt::Layout))                  \
  X(layout_set, prefix##MatrixLayoutSetAttribute,                                                  \
    int (*)(::dl::kit::blaslt::Layout, int, const void*, size_t))                                  \
  X(preference_create, prefix##MatmulPreferenceCreate, int (*)(::dl::kit::blaslt::Preference*))               \
  X(preference_destroy, prefix##MatmulPreferenceDestroy, int (*)(::dl::kit::blaslt::Preference))      \
  X(preference_set, prefix##MatmulPreferenceSetAttribute,                                          \
    int (*)(::dl::kit::blaslt::Preference, int, const void*, size_t))                              \
  X(heuristic, prefix##MatmulAlgoGetHeuristic,                                                     \
    int (*)(::dl::kit::blaslt::Handle, ::dl::kit::blaslt::Description, ::dl::kit::blaslt::Layout,  \
            ::dl::kit::blaslt::Layout, ::dl::kit::blaslt::Layout, ::dl::kit::blaslt::Layout,       \
            ::dl::kit::blaslt::Preference, int, ::dl::kit::blaslt::Heuristic<bytes>*, int*))       \
  X(multiply, prefix##Matmul,                                                                      \
    int (*)(::dl::kit::blaslt::Handle, ::dl::kit::blaslt::Description, const void*, const void*,   \
            ::dl::kit::blaslt::Layout, const void*, ::dl::kit::blaslt::Layout, const void*,        \
            const void*, ::dl::kit::blaslt::Layout, void*, ::dl::kit::blaslt::Layout,              \
            const ::dl::kit::blaslt::Algorithm<bytes>*, void*, size_t, void*))
// clang-format on

// Members of a class that derives from kit::Library and wraps a library like cuBLASLt.
#define DL_KIT_BLASLT_MEMBERS(prefix, numbers) \
  using Constants = numbers;                   \
  DL_KIT_BLASLT_FUNCTIONS(DL_KIT_BLASLT_MEMBER, prefix, Constants::kAlgorithmBytes)
#define DL_KIT_BLASLT_MEMBER(member, symbol, ...) \
  ::dl::kit::Symbol<__VA_ARGS__> member{*this, #symbol};

#endif  // DL_KIT_BLASLT_H_
