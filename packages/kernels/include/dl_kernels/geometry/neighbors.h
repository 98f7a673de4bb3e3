// Neighbor search and farthest point sampling in point clouds: the work of one item.
#ifndef DL_KERNELS_GEOMETRY_NEIGHBORS_H_
#define DL_KERNELS_GEOMETRY_NEIGHBORS_H_

#include <cmath>
#include <cstdint>
#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

DL_FN double squared_distance(const double* a, const double* b) {
  const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return x * x + y * y + z * z;
}

// Write the indices of the first points in a ball, repeated to fill the row; return true if there
// are any.
struct Ball {
  double least, most;  // squared radii
  bool takes_itself;
  DL_FN bool fill(int32_t* indices, int64_t wanted, const double* center, const double* points,
                  int64_t count) const {
    int64_t found = 0;
    for (int64_t k = 0; k < count && found < wanted; ++k) {
      const double d = squared_distance(center, points + 3 * k);
      if (!((d >= least && d < most) || (takes_itself && d == 0))) continue;
      for (int64_t j = found; j < (found == 0 ? wanted : found + 1); ++j)
        indices[j] = static_cast<int32_t>(k);
      ++found;
    }
    return found > 0;
  }
};

struct BallItem {
  int32_t* indices;
  const double *centers, *points;
  int64_t per_batch, count, wanted;
  Ball ball;
  DL_FN void operator()(int64_t i) const {
    ball.fill(indices + i * wanted, wanted, centers + 3 * i, points + i / per_batch * count * 3,
              count);
  }
};

struct StackedBallItem {
  int32_t* indices;
  const double *centers, *points;
  const int64_t *center_counts, *point_counts;
  int64_t batches, total, wanted;
  Ball ball;
  DL_FN void operator()(int64_t i) const {
    int64_t first = 0, center = i, count = 0;
    for (int64_t b = 0; b < batches; ++b) {
      const int64_t held = point_counts[b] > 0 ? point_counts[b] : 0;
      if (center < center_counts[b]) {
        count = held;
        break;
      }
      center -= center_counts[b];
      first = held > total - first ? total : first + held;
    }
    if (count > total - first) count = total - first;
    const bool any =
        ball.fill(indices + i * wanted, wanted, centers + 3 * i, points + 3 * first, count);
    if (!any && wanted > 0) indices[i * wanted] = -1;
  }
};

// The nearest points, ordered by distance and then by index.
struct NearestItem {
  double* distances;
  int32_t* indices;
  const double *from, *points;
  int64_t per_batch, count, wanted;
  DL_FN void operator()(int64_t i) const {
    double* d = distances + i * wanted;
    int32_t* at = indices + i * wanted;
    for (int64_t j = 0; j < wanted; ++j) {
      d[j] = HUGE_VAL;
      at[j] = 0;
    }
    const double* all = points + i / per_batch * count * 3;
    for (int64_t k = 0; k < count; ++k) {
      const double mine = squared_distance(from + 3 * i, all + 3 * k);
      if (wanted == 0 || !(mine < d[wanted - 1])) continue;
      int64_t j = wanted - 1;
      for (; j > 0 && mine < d[j - 1]; --j) {
        d[j] = d[j - 1];
        at[j] = at[j - 1];
      }
      d[j] = mine;
      at[j] = static_cast<int32_t>(k);
    }
  }
};

// Farthest point sampling: each chosen point is the farthest from those chosen before; `seen` holds
// the squared distances to them. Source: Eldar et al., The farthest point strategy for progressive
// image sampling (1997).
struct FarthestItem {
  double* seen;
  int32_t* indices;
  const double* points;  // coordinates, or a matrix of distances
  int64_t count, wanted;
  bool matrix;
  DL_FN void operator()(int64_t b) const {
    double* const far = seen + b * count;
    const double* const all = points + b * count * (matrix ? count : 3);
    int64_t last = 0;
    if (wanted > 0) indices[b * wanted] = 0;
    for (int64_t j = 1; j < wanted; ++j) {
      int64_t best = 0;
      for (int64_t k = 0; k < count; ++k) {
        const double d =
            matrix ? all[last * count + k] : squared_distance(all + 3 * last, all + 3 * k);
        if (d < far[k]) far[k] = d;
        if (far[k] > far[best]) best = k;
      }
      last = best;
      indices[b * wanted + j] = static_cast<int32_t>(best);
    }
  }
};

struct ChamferItem {
  double* distances;
  int32_t* indices;
  const double *from, *points;
  int64_t queries, count;
  DL_FN void operator()(int64_t i) const {
    const double *mine = from + 2 * i, *all = points + i / queries * count * 2;
    double least = HUGE_VAL;
    int64_t nearest = 0;
    for (int64_t k = 0; k < count; ++k) {
      const double x = mine[0] - all[2 * k], y = mine[1] - all[2 * k + 1], d = x * x + y * y;
      if (!(d < least) && !(d != d && least == least)) continue;
      least = d;
      nearest = k;
    }
    distances[i] = least;
    indices[i] = static_cast<int32_t>(nearest);
  }
};

// Gradient of one side of the Chamfer distance for one batch: from the distances of this side's
// points to their nearest neighbors, and from the distances of the other side's points to theirs.
struct ChamferGradientItem {
  double* out;
  const double *mine, *other, *my_grad, *other_grad;
  const int64_t *my_idx, *other_idx;
  int64_t count, others;
  DL_FN void operator()(int64_t b) const {
    for (int64_t i = b * count; i < (b + 1) * count; ++i) {
      for (int64_t d = 0; d < 2; ++d)
        out[2 * i + d] +=
            2 * my_grad[i] * (mine[2 * i + d] - other[2 * (b * others + my_idx[i]) + d]);
    }
    for (int64_t j = b * others; j < (b + 1) * others; ++j) {
      const int64_t i = b * count + other_idx[j];
      for (int64_t d = 0; d < 2; ++d)
        out[2 * i + d] += 2 * other_grad[j] * (mine[2 * i + d] - other[2 * j + d]);
    }
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_GEOMETRY_NEIGHBORS_H_
