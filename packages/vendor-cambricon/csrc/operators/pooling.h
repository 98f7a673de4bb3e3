// Views of images by the windows of a max pooling, for the descriptions of operators.
#ifndef DL_CAMBRICON_OPERATORS_POOLING_H_
#define DL_CAMBRICON_OPERATORS_POOLING_H_

#include "dl/kit/library/call.h"
#include "dl/kit/library/values.h"

namespace dl::cambricon {

namespace lib = ::dl::kit::library;

// Returns true if `out` has the shape of the windows of `input` [N, C, H, W]. Declines padding that
// is wider than half a window.
bool is_pooled(const lib::View& input, const lib::View& out, const lib::Ints& kernel,
               const lib::Ints& stride, const lib::Ints& padding, const lib::Ints& dilation,
               bool ceil_mode);
// The shape of images with the cells beyond their edges that a window contains.
lib::Ints padded_shape(const lib::View& input, const lib::View& out, const lib::Ints& kernel,
                       const lib::Ints& stride, const lib::Ints& padding,
                       const lib::Ints& dilation);
// The images in padded ones.
lib::View inside(const lib::View& padded, const lib::View& input, const lib::Ints& padding);
// The windows of padded images, whose rows and columns become the last two dimensions.
lib::View windows(const lib::View& padded, const lib::View& out, const lib::Ints& kernel,
                  const lib::Ints& stride, const lib::Ints& dilation);
// A temporary [1, 1, H, W, places] with the cell of the plane for each place in each window. For a
// place beyond the edge it is the window's first cell, which is the largest one if all are -inf.
lib::View cells(lib::Call& call, const lib::View& input, const lib::View& out,
                const lib::Ints& kernel, const lib::Ints& stride, const lib::Ints& padding,
                const lib::Ints& dilation);
// A tensor with its last two dimensions as one.
lib::View rows(const lib::View& x);
// Images [N, C, H, W] as [N, C, cells].
lib::View planes(const lib::View& x);
// Minus infinity in the dtype of a tensor of floating-point numbers.
lib::Scalar lowest(const lib::View& like);

}  // namespace dl::cambricon

#endif  // DL_CAMBRICON_OPERATORS_POOLING_H_
