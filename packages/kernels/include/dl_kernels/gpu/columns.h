// GPU: im2col and col2im of all samples at once.
#ifndef DL_KERNELS_GPU_COLUMNS_H_
#define DL_KERNELS_GPU_COLUMNS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/numeric.h"
#include "dl_kernels/conv/columns_shape.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/unfold.h"

DL_KERNELS_BEGIN

namespace gpu {

inline WindowedImages images_of(const ColumnsShape& shape) {
  return {{1, 1, 1, 1, 0, 1},
          shape.image.y,
          shape.image.x,
          shape.image.channels,
          shape.image_elements()};
}

}  // namespace gpu

// columns[sample][tap][oy · width + ox] of images[sample][channel][y][x].
template <class T>
void unfold(const Launch& launch, const ColumnsShape& shape, const T* images, T* columns) {
  using U = bits_t<T>;
  const int64_t plane = shape.image.output_plane(), count = shape.image.samples * plane;
  each(launch, shape.image.channels * count, 1,
       gpu::UnfoldItem<U>{gpu::images_of(shape),
                          {shape.elements(), plane},
                          reinterpret_cast<const U*>(images),
                          reinterpret_cast<U*>(columns),
                          0,
                          count});
}

// Sum columns into the pixels that they came from.
template <class C>
void fold(const Launch& launch, const ColumnsShape& shape, const C* columns, C* images) {
  each(launch, shape.image.samples * shape.image_elements(), 1,
       gpu::FoldItem<C, C>{
           gpu::images_of(shape), {shape.elements(), shape.image.output_plane()}, columns, images});
}

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_COLUMNS_H_
