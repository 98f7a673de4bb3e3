// Checks of the arguments of point cloud operators.
#ifndef DL_KERNELS_GEOMETRY_CLOUD_ARGUMENTS_H_
#define DL_KERNELS_GEOMETRY_CLOUD_ARGUMENTS_H_

#include <cstdint>

#include "dl_kernels/base/wide.h"

DL_KERNELS_BEGIN

inline constexpr uint32_t kInt32 = dtype_bit(diopi_dtype_int32);

// Indices of points are int32.
inline diopiError_t check_point_count(const char* op, int64_t count) {
  if (count <= INT32_MAX) return diopiSuccess;
  return fail(op, "%lld points exceed the range of int32 indices", (long long)count);
}

inline diopiError_t check_reduce_type(const char* op, int64_t type) {
  if (type >= 0 && type <= 2) return diopiSuccess;
  return fail(op, "reduce_type is %lld; give 0 (sum), 1 (mean) or 2 (maximum)", (long long)type);
}

inline diopiError_t check_pool_method(const char* op, int64_t method) {
  if (method == 0 || method == 1) return diopiSuccess;
  return fail(op, "pool_method is %lld; give 0 (maximum) or 1 (average)", (long long)method);
}

// Check the shapes of points and of the voxel grid, but not the values.
inline diopiError_t check_cloud(const char* op, const TensorRef& points, const TensorRef& size,
                                const TensorRef& range, int64_t ndim) {
  if (!alike<kSingleAndDouble>({points, size, range})) return diopiDtypeNotSupported;
  if (ndim != 3) return fail(op, "NDim is %lld; only 3 is supported", (long long)ndim);
  DL_TRY(check_sizes(op, "points", points, {kAnySize, kAnySize}));
  if (points.sizes[1] < 3)
    return fail(op, "points have %lld features; x, y and z are needed", (long long)points.sizes[1]);
  DL_TRY(check_sizes(op, "voxel_size", size, {3}));
  DL_TRY(check_sizes(op, "coors_range", range, {6}));
  return check_point_count(op, points.sizes[0]);
}

inline diopiError_t check_lists(const char* op, const TensorRef& pooled, const TensorRef& lists,
                                const TensorRef& argmax) {
  if (!alike<kInt32>({lists, argmax})) return diopiDtypeNotSupported;
  DL_TRY(check_sizes(op, "the tensor of pooled features", pooled,
                     {kAnySize, kAnySize, kAnySize, kAnySize, kAnySize}));
  const int64_t* s = pooled.sizes;
  DL_TRY(check_sizes(op, "pts_idx_of_voxels", lists, {s[0], s[1], s[2], s[3], kAnySize}));
  if (lists.sizes[4] < 1)
    return fail(op, "pts_idx_of_voxels has lists of size 0; each needs 1 element for its count");
  return check_sizes(op, "argmax", argmax, {s[0], s[1], s[2], s[3], s[4]});
}

DL_KERNELS_END

#endif  // DL_KERNELS_GEOMETRY_CLOUD_ARGUMENTS_H_
