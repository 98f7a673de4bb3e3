// Plan of a matrix product on a GPU: the tile of its kernel and the number of pieces of its sums
// (split-K). A vendor may replace the plan of the heuristic, by a measurement for example.
#ifndef DL_KERNELS_GPU_PRODUCT_PLAN_H_
#define DL_KERNELS_GPU_PRODUCT_PLAN_H_

#include <cstdint>

#include "diopi/types.gen.h"
#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

namespace gpu {

struct ProductPlan {
  bool large;      // tile; ignored if the element type has only small ones
  int64_t pieces;  // at least 1
};

// Everything that the time of a product depends on. An operand is read along the depth or along
// its side, in whole chunks or element by element.
struct ProductCall {
  struct Operand {
    bool along_depth, whole;
  };
  void* stream;
  diopiDtype_t dtype;
  bool tf32;
  int64_t batch, m, n, k;
  Operand a, b;
  bool has_large;       // tiles
  int64_t most_pieces;  // at least 1
};

// Set when the vendor's library is loaded, before any operator runs.
inline ProductPlan (*select_product)(const ProductCall& call, const ProductPlan& usual) = nullptr;

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_PRODUCT_PLAN_H_
