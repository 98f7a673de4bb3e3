// Sums of neighbor features weighted by scores, and their gradients.
#ifndef DL_KERNELS_GEOMETRY_ASSIGNED_SCORES_H_
#define DL_KERNELS_GEOMETRY_ASSIGNED_SCORES_H_

#include <cstdint>
#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

struct ScoreSizes {
  int64_t B, N, npoint, M, K, out_dim;
};

// Source: Xu et al., PAConv: Position Adaptive Convolution (2021).
struct AssignedItem {
  double* out;
  const double *points, *centers, *scores;
  const int64_t* knn;
  ScoreSizes s;
  DL_FN void operator()(int64_t item) const {
    const int64_t k = item % s.K, i = item / s.K % s.npoint,
                  o = item / (s.K * s.npoint) % s.out_dim;
    const int64_t b = item / (s.K * s.npoint * s.out_dim), row = b * s.npoint + i;
    const int64_t near = (b * s.N + knn[row * s.K + k]) * s.M * s.out_dim + o;
    const int64_t first = (b * s.N + knn[row * s.K]) * s.M * s.out_dim + o;
    double sum = out[item];
    for (int64_t m = 0; m < s.M; ++m)
      sum += scores[(row * s.K + k) * s.M + m] *
             (points[near + m * s.out_dim] - centers[first + m * s.out_dim]);
    out[item] = sum;
  }
};

struct AssignedScoreItem {
  double* out;
  const double *grad, *points, *centers;
  const int64_t* knn;
  ScoreSizes s;
  DL_FN void operator()(int64_t item) const {
    const int64_t m = item % s.M, k = item / s.M % s.K, row = item / (s.M * s.K);
    const int64_t b = row / s.npoint, i = row % s.npoint;
    const int64_t near = ((b * s.N + knn[row * s.K + k]) * s.M + m) * s.out_dim;
    const int64_t first = ((b * s.N + knn[row * s.K]) * s.M + m) * s.out_dim;
    double sum = out[item];
    for (int64_t o = 0; o < s.out_dim; ++o)
      sum += grad[((b * s.out_dim + o) * s.npoint + i) * s.K + k] *
             (points[near + o] - centers[first + o]);
    out[item] = sum;
  }
};

struct AssignedPointItem {
  double *points, *centers;
  const double *grad, *scores;
  const int64_t* knn;
  ScoreSizes s;
  DL_FN void operator()(int64_t item) const {
    const int64_t o = item % s.out_dim, m = item / s.out_dim % s.M, b = item / (s.out_dim * s.M);
    for (int64_t i = 0; i < s.npoint; ++i) {
      const int64_t row = b * s.npoint + i;
      const int64_t first = ((b * s.N + knn[row * s.K]) * s.M + m) * s.out_dim + o;
      for (int64_t k = 0; k < s.K; ++k) {
        const double amount = grad[((b * s.out_dim + o) * s.npoint + i) * s.K + k] *
                              scores[(row * s.K + k) * s.M + m];
        points[((b * s.N + knn[row * s.K + k]) * s.M + m) * s.out_dim + o] += amount;
        centers[first] -= amount;
      }
    }
  }
};

DL_KERNELS_END

#endif  // DL_KERNELS_GEOMETRY_ASSIGNED_SCORES_H_
