// Assignment of points to the voxels of a grid.
#ifndef DL_KERNELS_GEOMETRY_VOXELS_H_
#define DL_KERNELS_GEOMETRY_VOXELS_H_

#include <cmath>
#include <cstdint>

#include "dl_kernels/base/error.h"
#include "dl_kernels/index/prefix_count.h"
#include "dl_kernels/parallel/check.h"
#include "dl_kernels/parallel/launch.h"
#include "dl_kernels/sort/sort.h"

DL_KERNELS_BEGIN

// Coordinates are int32, which limits the number of voxels along a side.
inline constexpr double kMostVoxels = 2147483647.0;

// `size` holds the three sides of a voxel, `range` the lowest and the highest corner of the grid.
struct VoxelGrid {
  const double *size, *range;

  DL_FN double voxels(int64_t d) const { return std::round((range[3 + d] - range[d]) / size[d]); }
  // Return -1 outside the grid.
  DL_FN int32_t coordinate(int64_t d, double at) const {
    const double cell = std::floor((at - range[d]) / size[d]);
    const bool inside = cell >= 0 && cell < voxels(d) && cell < kMostVoxels;
    return inside ? static_cast<int32_t>(cell) : -1;
  }
};

namespace detail {

struct NoGrid {
  VoxelGrid grid;

  DL_FN bool operator()(int64_t d) const {
    const double count = grid.voxels(d);
    return !(grid.size[d] > 0) || !(count >= 0) || count > kMostVoxels;
  }
  DL_FN void describe(int64_t d, dl_device_error_t& error) const {
    describe_as(error, DL_DEVICE_ERROR_NUMBER,
                "voxel size {number} in dimension {position} must be positive and give at most "
                "{high} voxels");
    error.number = grid.size[d];
    error.position = d;
    error.high = static_cast<int64_t>(kMostVoxels);
  }
};

}  // namespace detail

inline diopiError_t check_grid(const Launch& launch, const char* op, const VoxelGrid& grid) {
  return check_items(launch, op, 3, detail::NoGrid{grid});
}

// z, y, x of the voxel of each point; all -1 outside the grid.
template <class C>
struct VoxelOfPointItem {
  int32_t* out;
  const C* points;
  VoxelGrid grid;
  int64_t features;

  DL_FN void operator()(int64_t i) const {
    int32_t found[3];
    bool inside = true;
    for (int64_t d = 0; d < 3; ++d) {
      found[d] = grid.coordinate(d, static_cast<double>(points[i * features + d]));
      inside = inside && found[d] >= 0;
    }
    for (int64_t d = 0; d < 3; ++d) out[3 * i + d] = inside ? found[2 - d] : -1;
  }
};

namespace detail {

// Normalize coordinates: if one is negative, set all to -1, which sorts first; combine the last two
// into one sort key.
struct CleanCoordinatesItem {
  int32_t* out;
  int64_t* last_two;
  const int32_t* in;

  DL_FN void operator()(int64_t i) const {
    const int32_t *from = in + 3 * i, a = from[0], b = from[1], c = from[2];
    const bool good = a >= 0 && b >= 0 && c >= 0;
    out[3 * i] = good ? a : -1;
    out[3 * i + 1] = good ? b : -1;
    out[3 * i + 2] = good ? c : -1;
    last_two[i] = good ? int64_t(b) << 32 | c : -1;
  }
};

struct FirstInOrderItem {
  int32_t* out;
  const int32_t* coordinates;
  const int64_t* order;
  DL_FN void operator()(int64_t i) const { out[i] = coordinates[3 * order[i]]; }
};

struct ThroughItem {
  int64_t* out;
  const int64_t *first, *second;
  DL_FN void operator()(int64_t i) const { out[i] = first[second[i]]; }
};

// Return true if the i-th point in voxel order is the first one of its voxel.
struct BeginsVoxel {
  const int32_t* coordinates;
  const int64_t* order;

  DL_FN bool operator()(int64_t i) const {
    const int32_t* here = coordinates + 3 * order[i];
    if (here[0] < 0) return false;
    if (i == 0) return true;
    const int32_t* before = coordinates + 3 * order[i - 1];
    return here[0] != before[0] || here[1] != before[1] || here[2] != before[2];
  }
};

struct PutVoxel {
  const int64_t* order;
  int64_t *firsts, *voxel_of;

  DL_FN void operator()(int64_t i, int64_t count, bool begins) const {
    if (begins) firsts[count - 1] = i;
    voxel_of[order[i]] = count - 1;
  }
};

}  // namespace detail

// The points of each voxel, as kernels read them: voxel v has the points order[begin(v)] ...
// order[end(v) - 1], in their original order.
struct PointsOfVoxels {
  const int64_t *order, *firsts, *voxel_of;  // voxel_of[point] is -1 if the point is in no voxel
  const int32_t* coordinates;                // z, y, x of each point
  int64_t points;
  const int64_t* voxels;  // number of voxels

  DL_FN int64_t begin(int64_t voxel) const { return firsts[voxel]; }
  DL_FN int64_t end(int64_t voxel) const {
    return voxel + 1 < *voxels ? firsts[voxel + 1] : points;
  }
  // Return coordinate d of a voxel.
  DL_FN int32_t coordinate(int64_t voxel, int64_t d) const {
    return coordinates[3 * order[begin(voxel)] + d];
  }
};

// Points sorted by voxel; voxels are numbered by ascending coordinates.
class SortedVoxels {
 public:
  // `coordinates` [points, 3].
  SortedVoxels(const Launch& launch, const int32_t* coordinates, int64_t points)
      : clean_(launch, 3 * points),
        order_(launch, points),
        firsts_(launch, points),
        voxel_of_(launch, points),
        voxels_(launch, 1),
        points_(points) {
    status_ = sort(launch, coordinates);
    if (status_ != diopiSuccess) return;
    prefix_count_to(launch, points, detail::BeginsVoxel{clean_.data(), order_.data()},
                    detail::PutVoxel{order_.data(), firsts_.data(), voxel_of_.data()},
                    voxels_.data());
  }

  diopiError_t status() const { return status_; }
  // Return the number of voxels; waits for the device.
  int64_t count(const Launch& launch) const { return fetch(launch, voxels_.data()); }
  PointsOfVoxels view() const {
    return {order_.data(), firsts_.data(), voxel_of_.data(),
            clean_.data(), points_,        voxels_.data()};
  }

 private:
  // Sort by the last two coordinates, then stably by the first one.
  diopiError_t sort(const Launch& launch, const int32_t* coordinates) {
    const Workspace<int64_t> keys(launch, points_), by_two(launch, points_),
        by_one(launch, points_);
    const Workspace<int32_t> first(launch, points_);
    each(launch, points_, 6, detail::CleanCoordinatesItem{clean_.data(), keys.data(), coordinates});
    const DimPlan<3> row = dense_rows(1, points_, points_);
    DL_TRY(sort_along<int64_t>(launch, {false}, row, keys.data(), nullptr, by_two.data()));
    each(launch, points_, 2, detail::FirstInOrderItem{first.data(), clean_.data(), by_two.data()});
    DL_TRY(sort_along<int32_t>(launch, {false}, row, first.data(), nullptr, by_one.data()));
    each(launch, points_, 2, detail::ThroughItem{order_.data(), by_two.data(), by_one.data()});
    return diopiSuccess;
  }

  Workspace<int32_t> clean_;
  Workspace<int64_t> order_, firsts_, voxel_of_, voxels_;
  int64_t points_;
  diopiError_t status_ = diopiSuccess;
};

DL_KERNELS_END

#endif  // DL_KERNELS_GEOMETRY_VOXELS_H_
