// Points inside 3-D boxes, pooled by the voxels of each box or gathered.
#ifndef DL_KERNELS_GEOMETRY_POOLED_POINTS_H_
#define DL_KERNELS_GEOMETRY_POOLED_POINTS_H_

#include <cmath>
#include <cstdint>

#include "dl_kernels/base/data_error.h"
#include "dl_kernels/geometry/box_with_heading.h"
#include "dl_kernels/parallel/block.h"
#include "dl_kernels/parallel/check.h"

DL_KERNELS_BEGIN

// A list for each voxel of each box: the number of points, then their indices.
struct PointLists {
  int64_t sides[3];
  int64_t room;  // capacity of a list, including the count

  DL_FN int64_t voxels() const { return sides[0] * sides[1] * sides[2]; }
  // Return the voxel index along a side; a coordinate on the far border belongs to the last voxel.
  DL_FN int64_t along(int64_t d, double coordinate, double size) const {
    const double at = coordinate * static_cast<double>(sides[d]) / size;
    if (!(at > 0)) return 0;
    const int64_t last = sides[d] - 1;
    return at < static_cast<double>(last) ? static_cast<int64_t>(at) : last;
  }
  DL_FN int64_t voxel(const double* box, const InBox& point) const {
    const int64_t x = along(0, point.along + box[3] / 2, box[3]);
    const int64_t y = along(1, point.across + box[4] / 2, box[4]);
    return (x * sides[1] + y) * sides[2] + along(2, point.above, box[5]);
  }
};

// Lists of one box, in the order of the points. Source: Shi et al., From points to parts: 3D object
// detection from point cloud with part-aware and part-aggregation network (2019).
struct CollectPointsItem {
  int32_t* lists;
  const double *boxes, *points;
  PointLists shape;
  int64_t count;

  DL_FN void operator()(int64_t item) const {
    const BoxWithHeading box(boxes + 7 * item);
    int32_t* first = lists + item * shape.voxels() * shape.room;
    for (int64_t v = 0; v < shape.voxels(); ++v) first[v * shape.room] = 0;
    for (int64_t i = 0; i < count; ++i) {
      const double* p = points + 3 * i;
      const InBox seen = box.seen(p[0], p[1], p[2]);
      if (!seen.inside) continue;
      int32_t* list = first + shape.voxel(box.box, seen) * shape.room;
      if (list[0] < shape.room - 1) list[++list[0]] = static_cast<int32_t>(i);
    }
  }
};

// Pools one voxel; the output of an empty voxel is not changed.
template <class C>
struct PoolPointsRow {
  C* out;
  int32_t* argmax;  // null for averages
  const C* features;
  const int32_t* lists;
  int64_t room, channels;

  template <class B>
  DL_FN void operator()(const B& block, int64_t voxel) const {
    const int32_t* list = lists + voxel * room;
    const int64_t count = list[0], width = channels;
    const C* from = features;
    C* to = out + voxel * width;
    if (argmax != nullptr) {
      int32_t* argmax_row = argmax + voxel * width;
      block.map(width, [=](int64_t j) {
        int32_t best_point = -1;
        C best = 0;
        for (int64_t i = 1; i <= count; ++i) {
          const C value = from[list[i] * width + j];
          if (best_point >= 0 && !(value > best) && (value == value || best != best)) continue;
          best = value;
          best_point = list[i];
        }
        if (best_point >= 0) to[j] = best;
        argmax_row[j] = best_point;
      });
      return;
    }
    if (count == 0) return;
    block.map(width, [=](int64_t j) {
      double sum = 0;
      for (int64_t i = 1; i <= count; ++i) sum += static_cast<double>(from[list[i] * width + j]);
      to[j] = static_cast<C>(sum / static_cast<double>(count));
    });
  }
};

// Check that a list does not exceed its capacity and contains valid points.
struct BadList {
  const int32_t* lists;
  int64_t room, points;

  // Return the first invalid entry, or `room`.
  DL_FN int64_t wrong(int64_t voxel) const {
    const int32_t* list = lists + voxel * room;
    if (list[0] < 0 || list[0] >= room) return 0;
    int64_t i = 1;
    while (i <= list[0] && list[i] >= 0 && list[i] < points) ++i;
    return i <= list[0] ? i : room;
  }
  DL_FN bool operator()(int64_t voxel) const { return wrong(voxel) < room; }
  DL_FN void describe(int64_t voxel, dl_device_error_t& error) const {
    describe_as(error, DL_DEVICE_ERROR_INDEX,
                "number {value} at position {position} of pts_idx_of_voxels is out of range "
                "[{low}, {high})");
    error.position = voxel * room + wrong(voxel);
    error.value = lists[error.position];
    error.low = 0;
    error.high = wrong(voxel) == 0 ? room : points;
  }
};

// Check that the index of each maximum names an existing point.
struct BadArgmax {
  const int32_t* argmax;
  int64_t points;

  DL_FN bool operator()(int64_t i) const { return argmax[i] < -1 || argmax[i] >= points; }
  DL_FN void describe(int64_t i, dl_device_error_t& error) const {
    describe_as(error, DL_DEVICE_ERROR_INDEX,
                "point {value} at position {position} of argmax is out of range [{low}, {high})");
    error.value = argmax[i];
    error.position = i;
    error.low = -1;
    error.high = points;
  }
};

// Add the gradients of voxels to their points; an item handles a few adjacent channels. On a GPU it
// runs even if the checks failed, and skips invalid entries.
template <class C>
struct PooledPointsGradientItem {
  C* out;
  const C* grad;
  const int32_t* lists;   // of averages
  const int32_t* argmax;  // of maxima; null: averages
  int64_t voxels, room, points, channels, columns;

  DL_FN void operator()(int64_t part) const {
    const int64_t first = part * columns;
    const int64_t last = first + columns < channels ? first + columns : channels;
    for (int64_t v = 0; v < voxels; ++v) {
      const C* from = grad + v * channels;
      if (argmax != nullptr) {
        const int32_t* from_point = argmax + v * channels;
        for (int64_t j = first; j < last; ++j) {
          if (from_point[j] >= 0 && from_point[j] < points)
            out[from_point[j] * channels + j] += from[j];
        }
        continue;
      }
      const int32_t* list = lists + v * room;
      if (list[0] <= 0 || list[0] >= room) continue;
      const C share = C(1) / static_cast<C>(list[0]);
      for (int64_t i = 1; i <= list[0]; ++i) {
        if (list[i] < 0 || list[i] >= points) continue;
        C* to = out + list[i] * channels;
        DL_VECTOR_LOOP
        for (int64_t j = first; j < last; ++j) to[j] += share * from[j];
      }
    }
  }
};

// Gather the first points in a box, repeated if there are fewer; -1 if there are none. Source: Shi
// et al., PointRCNN: 3D object proposal generation and detection from point cloud (2019).
struct GatherInBoxItem {
  int64_t* argmax;
  int32_t* empty;
  const double *boxes, *points;
  int64_t boxes_per_batch, points_per_batch, wanted;

  DL_FN void operator()(int64_t item) const {
    const BoxWithHeading box(boxes + 7 * item);
    const double* p = points + item / boxes_per_batch * points_per_batch * 3;
    int64_t* to = argmax + item * wanted;
    int64_t found = 0;
    bool any = false;
    for (int64_t i = 0; i < points_per_batch && (found < wanted || !any); ++i, p += 3) {
      if (!box.seen(p[0], p[1], p[2]).inside) continue;
      any = true;
      if (found < wanted) to[found++] = i;
    }
    for (int64_t i = found; i < wanted; ++i) to[i] = any ? to[i - found] : -1;
    if (!any) empty[item] = 1;
  }
};

// Copies one sampled point.
template <class C>
struct GatheredRow {
  C* out;
  const C *points, *features;
  const int64_t* argmax;
  int64_t points_per_batch, per_batch, channels;  // per_batch: samples of all boxes

  template <class B>
  DL_FN void operator()(const B& block, int64_t sample) const {
    if (argmax[sample] < 0) return;
    const int64_t from = sample / per_batch * points_per_batch + argmax[sample];
    const C *point = points + 3 * from, *feature = features + from * channels;
    C* to = out + sample * (3 + channels);
    block.map(3, [=](int64_t j) { to[j] = point[j]; });
    block.map(channels, [=](int64_t j) { to[3 + j] = feature[j]; });
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_GEOMETRY_POOLED_POINTS_H_
