// Matrix products, convolutions and linear algebra.
#include "arguments.gen.h"
#include "precision.h"

using namespace fake_aclnn;

namespace {

// Turns a line into an image with one row: another dimension before the last one.
Tensor as_image(const Tensor& tensor) { return tensor ? tensor.unsqueeze(-2) : tensor; }
Ints pair(const Ints& ints, int64_t first) {
  demand(ints.size() == 1, "a list does not have one entry");
  return Ints{true, {first, ints[0]}};
}

}  // namespace

MEANING(Mm) {
  check_cube(cubeMathType);
  RUN(diopiMm, out, self, mat2);
}
MEANING(Matmul) {
  check_cube(cubeMathType);
  RUN(diopiMatmul, out, self, mat2);
}
MEANING(BatchMatMul) {
  check_cube(cubeMathType);
  demand(self.rank() == 3 && mat2.rank() == 3, "a batch of matrices does not have rank 3");
  RUN(diopiMatmul, out, self, mat2);
}
// beta * self + alpha * mat1 * mat2
MEANING(Addmm) {
  check_cube(cubeMathType);
  RUN(diopiAddmm, out, self, mat1, mat2, beta, alpha);
}
MEANING(Baddbmm) {
  check_cube(cubeMathType);
  RUN(diopiBaddbmm, out, self, batch1, batch2, beta.real(), alpha.real());
}
MEANING(InplaceBaddbmm) {
  check_cube(cubeMathType);
  RUN(diopiBaddbmmInp, selfRef, batch1, batch2, beta.real(), alpha.real());
}
// In one process the sum over the communicator is the product itself.
MEANING(MatmulAllReduce) {
  demand(reduceOp == "sum", "reduceOp is not sum");
  demand(!group.empty(), "group is empty");
  demand(streamMode == 1, "streamMode is not 1");
  demand(commTurn >= 0, "commTurn is negative");
  RUN(diopiMatmul, output, x1, x2);
  if (bias) RUN(diopiAddInp, output, bias, Scalar::of(1));
}

// outputPadding has a meaning only for transposed convolutions.
MEANING(Convolution) {
  check_cube(cubeMathType);
  for (const int64_t each : outputPadding.values)
    demand(transposed || each == 0, "outputPadding is not 0, and transposed is false");
  if (input.rank() == 3) {
    Convolution image = *this;
    image.input = as_image(input);
    image.weight = as_image(weight);
    image.output = as_image(output);
    image.stride = pair(stride, 1);
    image.padding = pair(padding, 0);
    image.dilation = pair(dilation, 1);
    image.outputPadding = transposed ? pair(outputPadding, 0) : Ints{};
    image.meaning();
  } else if (input.rank() == 4) {
    if (transposed)
      RUN(diopiConvTranspose2d, output, input, weight, bias, stride, padding, outputPadding, groups,
          dilation);
    else
      RUN(diopiConvolution2d, output, input, weight, bias, stride, padding, dilation, groups);
  } else if (transposed) {
    RUN(diopiConvTranspose3d, output, input, weight, bias, stride, padding, outputPadding, groups,
        dilation);
  } else {
    RUN(diopiConvolution3d, output, input, weight, bias, stride, padding, dilation, groups);
  }
}
// outputMask selects the gradients of input, weight and bias.
MEANING(ConvolutionBackward) {
  check_cube(cubeMathType);
  for (const int64_t each : outputPadding.values)
    demand(transposed || each == 0, "outputPadding is not 0, and transposed is false");
  if (input.rank() == 3) {
    ConvolutionBackward image = *this;
    image.gradOutput = as_image(gradOutput);
    image.input = as_image(input);
    image.weight = as_image(weight);
    image.gradInput = as_image(gradInput);
    image.gradWeight = as_image(gradWeight);
    image.stride = pair(stride, 1);
    image.padding = pair(padding, 0);
    image.dilation = pair(dilation, 1);
    image.outputPadding = transposed ? pair(outputPadding, 0) : Ints{};
    return image.meaning();
  }
  const Tensor of_input = outputMask[0] ? gradInput : Tensor();
  const Tensor of_weight = outputMask[1] ? gradWeight : Tensor();
  const Tensor of_bias = outputMask[2] ? gradBias : Tensor();
  demand(!outputMask[0] || gradInput, "outputMask wants gradInput, which is NULL");
  demand(!outputMask[1] || gradWeight, "outputMask wants gradWeight, which is NULL");
  demand(!outputMask[2] || gradBias, "outputMask wants gradBias, which is NULL");
  diopiSize_t sizes = biasSizes;
  diopiSize_t* bias = outputMask[2] ? &sizes : nullptr;
  if (input.rank() == 4) {
    if (transposed)
      RUN(diopiConvTranspose2dBackward, of_input, of_weight, of_bias, gradOutput, input, weight,
          bias, stride, padding, dilation, outputPadding, groups);
    else
      RUN(diopiConvolution2dBackward, of_input, of_weight, of_bias, gradOutput, input, weight, bias,
          stride, padding, dilation, groups);
  } else if (transposed) {
    RUN(diopiConvTranspose3dBackward, of_input, of_weight, of_bias, gradOutput, input, weight, bias,
        stride, padding, dilation, outputPadding, groups);
  } else {
    RUN(diopiConvolution3dBackward, of_input, of_weight, of_bias, gradOutput, input, weight, bias,
        stride, padding, dilation, groups);
  }
}

MEANING(LinalgCholesky) {
  Sizes batch(self.sizes().begin(), self.sizes().end() - 2);
  RUN(diopiCholesky, out, empty(batch, diopi_dtype_int32), self, upper, false);
}
// mode: 0 reduced, 1 complete, 2 only R.
MEANING(LinalgQr) {
  demand(mode >= 0 && mode <= 2, "mode is not from 0 to 2");
  const char* const modes[] = {"reduced", "complete", "r"};
  RUN(diopiLinalgQR, self, modes[mode], Q, R);
}
// A * xOut = self; mOut gets a copy of A.
MEANING(TriangularSolve) {
  RUN(diopiTriangularSolve, xOut, mOut, self, A, upper, transpose, unitriangular);
}
