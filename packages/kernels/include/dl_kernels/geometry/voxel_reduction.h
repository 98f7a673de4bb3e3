// Reduction of the features of each voxel's points, and its gradient.
#ifndef DL_KERNELS_GEOMETRY_VOXEL_REDUCTION_H_
#define DL_KERNELS_GEOMETRY_VOXEL_REDUCTION_H_

#include <cstdint>

#include "dl_kernels/geometry/voxels.h"
#include "dl_kernels/parallel/block.h"

DL_KERNELS_BEGIN

enum class VoxelReduction : int64_t { sum, mean, maximum };

template <class C>
struct ReducedFeatureRow {
  C* out;
  const C* features;
  PointsOfVoxels in;
  int64_t width;
  VoxelReduction reduction;

  template <class B>
  DL_FN void operator()(const B& block, int64_t voxel) const {
    const int64_t *first = in.order + in.begin(voxel), columns = width;
    const int64_t count = in.end(voxel) - in.begin(voxel);
    const C* from = features;
    C* to = out + voxel * columns;
    if (reduction == VoxelReduction::maximum) {
      block.map(columns, [=](int64_t j) {
        C best = from[first[0] * columns + j];
        for (int64_t i = 1; i < count; ++i) {
          const C value = from[first[i] * columns + j];
          if (value > best || value != value) best = value;
        }
        to[j] = best;
      });
      return;
    }
    const double divisor = reduction == VoxelReduction::mean ? static_cast<double>(count) : 1.0;
    block.map(columns, [=](int64_t j) {
      double sum = 0;
      for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(from[first[i] * columns + j]);
      to[j] = static_cast<C>(sum / divisor);
    });
  }
};

// Coordinates and point counts of the voxels, in int32.
struct VoxelTableItem {
  int32_t *coordinates, *counts;
  PointsOfVoxels in;

  DL_FN void operator()(int64_t voxel) const {
    for (int64_t d = 0; d < 3; ++d) coordinates[3 * voxel + d] = in.coordinate(voxel, d);
    counts[voxel] = static_cast<int32_t>(in.end(voxel) - in.begin(voxel));
  }
};

struct VoxelOfItem {
  int32_t* out;
  const int64_t* voxel_of;
  DL_FN void operator()(int64_t point) const { out[point] = static_cast<int32_t>(voxel_of[point]); }
};

// Gradient of sums and means, for each point.
template <class C>
struct ReducedGradientRow {
  C* out;
  const C* grad;
  const int64_t* voxel_of;
  const int32_t* counts;  // null for a sum
  int64_t width;

  template <class B>
  DL_FN void operator()(const B& block, int64_t point) const {
    const int64_t voxel = voxel_of[point];
    if (voxel < 0) return;
    const C divisor = counts == nullptr ? C(1) : static_cast<C>(counts[voxel]);
    const C* from = grad + voxel * width;
    C* to = out + point * width;
    block.map(width, [=](int64_t j) { to[j] += from[j] / divisor; });
  }
};

// Gradient of maxima: it goes to the first point that has the maximum. `order` lists the points by
// voxel, `sorted` their voxels.
template <class C>
struct MaximumGradientRow {
  C* out;
  const C *grad, *features, *reduced;
  const int64_t *order, *sorted;
  int64_t points, width;

  // Position of a voxel's first point.
  DL_FN int64_t begin(int64_t voxel) const {
    int64_t low = 0, high = points;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (sorted[middle] < voxel) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  template <class B>
  DL_FN void operator()(const B& block, int64_t voxel) const {
    const int64_t first = begin(voxel);
    const MaximumGradientRow row = *this;
    block.map(width, [=](int64_t j) {
      const C best = row.reduced[voxel * row.width + j];
      for (int64_t i = first; i < row.points && row.sorted[i] == voxel; ++i) {
        const int64_t at = row.order[i] * row.width + j;
        const C value = row.features[at];
        if (value != best && (value == value || best == best)) continue;
        row.out[at] += row.grad[voxel * row.width + j];
        return;
      }
    });
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_GEOMETRY_VOXEL_REDUCTION_H_
