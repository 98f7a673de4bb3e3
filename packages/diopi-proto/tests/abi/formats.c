/* Tests of dl_tensor_format. The exit status is the line of the failed check. */
#include "dl/format.h"

#include <string.h>

#define CHECK(condition) \
  if (!(condition)) return __LINE__

static dl_tensor_prefix_t tensor(int64_t ndim, const int64_t* sizes, const int64_t* strides,
                                 uint32_t flags) {
  dl_tensor_prefix_t made;
  /* Garbage in a field that an earlier host does not have. */
  memset(&made, 0xA5, sizeof made);
  made.flags = flags;
  made.ndim = ndim;
  made.sizes = sizes;
  made.strides = strides;
  return made;
}

static dl_format_t format(int64_t ndim, const int64_t* sizes, const int64_t* strides,
                          uint32_t flags) {
  const dl_tensor_prefix_t made = tensor(ndim, sizes, strides, flags);
  return dl_tensor_format(&made);
}

int main(void) {
  const int64_t images[] = {2, 3, 4, 5};
  const int64_t rows[] = {60, 20, 5, 1};
  const int64_t channels[] = {60, 1, 15, 3};
  const int64_t gaps[] = {120, 1, 30, 6};
  const int64_t rotated[] = {60, 1, 3, 12}; /* NWHC */
  CHECK(format(4, images, rows, DL_TENSOR_CONTIGUOUS) == DL_FORMAT_CONTIGUOUS);
  CHECK(format(4, images, channels, 0) == DL_FORMAT_CHANNELS_LAST);
  CHECK(format(4, images, gaps, 0) == DL_FORMAT_STRIDED);
  CHECK(format(4, images, rotated, 0) == DL_FORMAT_STRIDED);
  CHECK(format(3, images, channels, 0) == DL_FORMAT_STRIDED);
  CHECK(format(0, NULL, NULL, DL_TENSOR_CONTIGUOUS) == DL_FORMAT_CONTIGUOUS);

  /* Strides of dimensions with one element are ignored. */
  const int64_t one_image[] = {1, 3, 4, 1};
  const int64_t odd[] = {7, 1, 3, 99};
  CHECK(format(4, one_image, odd, 0) == DL_FORMAT_CHANNELS_LAST);
  /* One channel: both formats apply, and contiguous has priority. */
  const int64_t grey[] = {2, 1, 4, 5};
  const int64_t plain[] = {20, 20, 5, 1};
  CHECK(format(4, grey, plain, DL_TENSOR_CONTIGUOUS) == DL_FORMAT_CONTIGUOUS);

  const int64_t volumes[] = {2, 3, 4, 5, 6};
  const int64_t deep[] = {360, 1, 90, 18, 3};
  CHECK(format(5, volumes, deep, 0) == DL_FORMAT_CHANNELS_LAST_3D);
  const int64_t swapped[] = {360, 1, 18, 72, 3};
  CHECK(format(5, volumes, swapped, 0) == DL_FORMAT_STRIDED);

  CHECK(format(2, images, rows, DL_TENSOR_SPARSE_CSR) == DL_FORMAT_STRIDED);

  dl_tensor_prefix_t own = tensor(4, images, rows, DL_TENSOR_CONTIGUOUS);
  CHECK(dl_tensor_private_format(&own) == 0);
  own.flags |= DL_TENSOR_PRIVATE_FORMAT;
  own.private_format = 29;
  CHECK(dl_tensor_format(&own) == DL_FORMAT_PRIVATE);
  CHECK(dl_tensor_private_format(&own) == 29);
  return 0;
}
