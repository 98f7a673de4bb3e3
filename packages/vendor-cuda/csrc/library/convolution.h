// Convolutions and their gradients by cuDNN, where it is installed and takes them.
#ifndef DL_CUDA_LIBRARY_CONVOLUTION_H_
#define DL_CUDA_LIBRARY_CONVOLUTION_H_

#include <cstdint>
#include <functional>

namespace dl::cuda {

// A tensor of a convolution: samples × channels × positions, or filters × channels × taps.
struct Images {
  int dtype;  // diopiDtype_t
  const void* data;
  int64_t sizes[5], strides[5];  // in elements; two and one for each axis
};

enum class Direction { kForward, kInputGradient, kWeightGradient };

struct Convolution {
  Direction direction;  // which of the three is written
  int axes;             // 2 or 3
  Images input, weight, output;
  int64_t stride[3], dilation[3], before[3], after[3];  // `before` and `after`: what is padded
  void* stream;
  std::function<void*(int64_t bytes)> workspace;  // on the device, for the length of the call
  // Writes what the result is added to, once it is known that the library takes the call. Empty:
  // the result replaces what is there.
  std::function<void()> prepare;

  int dimensions() const { return axes + 2; }
  const Images& result() const {
    return direction == Direction::kForward         ? output
           : direction == Direction::kInputGradient ? input
                                                    : weight;
  }
};

// False: the library is not there, is switched off, or does not take it, which is found out once
// for convolutions that are alike. Throws kit::Error where it takes a convolution and fails to run
// it.
bool convolve_by_library(Convolution call);

// Whether positions lie densely one after the other, and channels around them, or, where
// `channels_last`, the other way round.
bool lies_densely(const Images& images, int dimensions, bool channels_last);

}  // namespace dl::cuda

#endif  // DL_CUDA_LIBRARY_CONVOLUTION_H_
