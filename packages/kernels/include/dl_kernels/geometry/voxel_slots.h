// Hard voxelization: a limited number of voxels, in the order of their first points, with a limited
// number of points each.
#ifndef DL_KERNELS_GEOMETRY_VOXEL_SLOTS_H_
#define DL_KERNELS_GEOMETRY_VOXEL_SLOTS_H_

#include <cstdint>

#include "dl_kernels/geometry/voxels.h"

DL_KERNELS_BEGIN

// Return true if a point is the first one of its voxel.
struct FirstOfVoxel {
  PointsOfVoxels in;
  DL_FN bool operator()(int64_t point) const {
    const int64_t voxel = in.voxel_of[point];
    return voxel >= 0 && in.order[in.begin(voxel)] == point;
  }
};

struct NumberVoxel {
  int64_t* number;
  const int64_t* voxel_of;
  DL_FN void operator()(int64_t point, int64_t count, bool first) const {
    if (first) number[voxel_of[point]] = count - 1;
  }
};

// Copy the i-th point in voxel order to its slot, if there is one.
template <class C>
struct FillSlotItem {
  C* voxels;
  int32_t *coordinates, *counts;
  const C* points;
  PointsOfVoxels in;
  const int64_t* number;
  int64_t features, most_voxels, most_points;

  DL_FN void operator()(int64_t i) const {
    const int64_t point = in.order[i], voxel = in.voxel_of[point];
    if (voxel < 0 || number[voxel] >= most_voxels) return;
    const int64_t to = number[voxel], rank = i - in.begin(voxel);
    if (rank == 0) {
      const int64_t all = in.end(voxel) - in.begin(voxel);
      for (int64_t d = 0; d < 3; ++d) coordinates[3 * to + d] = in.coordinate(voxel, d);
      counts[to] = static_cast<int32_t>(all < most_points ? all : most_points);
    }
    if (rank >= most_points) return;
    for (int64_t k = 0; k < features; ++k)
      voxels[(to * most_points + rank) * features + k] = points[point * features + k];
  }
};

// Clamps a count to the capacity.
struct ClampCountItem {
  int64_t* number;
  int64_t most;
  DL_FN void operator()(int64_t) const {
    if (*number > most) *number = most;
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_GEOMETRY_VOXEL_SLOTS_H_
