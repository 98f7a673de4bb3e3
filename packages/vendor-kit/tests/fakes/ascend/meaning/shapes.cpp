// Functions that move elements, and that fill tensors by position.
#include "arguments.gen.h"

using namespace fake_aclnn;

MEANING(Cat) { RUN(diopiCat, out, Handles(tensors.values), tensors.size(), dim); }
MEANING(Stack) { RUN(diopiStack, out, Handles(tensors.values), tensors.size(), dim); }
MEANING(SplitWithSize) {
  RUN(diopiSplitWithSizes, Handles(out.values), out.size(), self, splitSize, dim);
}
MEANING(Expand) {
  Sizes sizes = size.values;
  const size_t shift = sizes.size() - self.sizes().size();
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1 && i >= shift) sizes[i] = self.sizes()[i - shift];
  }
  demand(out.sizes() == sizes, "out does not have the shape size");
  assign(out, self.expand(sizes));
}
MEANING(Repeat) { RUN(diopiRepeat, out, self, repeats); }
MEANING(Permute) { RUN(diopiPermute, out, self, dims); }
MEANING(Flip) { RUN(diopiFlip, out, self, dims); }
MEANING(Roll) { RUN(diopiRoll, out, x, shifts, dims); }
MEANING(Slice) { RUN(diopiSlice, out, self, dim, start, end, step); }
// pad lists the cells before and after, beginning with the last dimension.
MEANING(ConstantPadNd) { RUN(diopiPad, out, self, pad, "constant", Address<double>(value.real())); }
MEANING(Tril) { RUN(diopiTril, out, self, diagonal); }
MEANING(Triu) { RUN(diopiTriu, out, self, diagonal); }
MEANING(InplaceTriu) { RUN(diopiTriuInp, selfRef, diagonal); }
MEANING(UnfoldGrad) { RUN(diopiUnfoldBackward, gradIn, gradOut, inputSizes, dim, size, step); }
MEANING(Im2col) { RUN(diopiIm2Col, out, self, kernelSize, dilation, padding, stride); }
MEANING(Im2colBackward) {
  RUN(diopiCol2Im, out, gradOutput, inputSize, kernelSize, dilation, padding, stride);
}
MEANING(Arange) { RUN(diopiArange, out, start, end, step); }
MEANING(Linspace) { RUN(diopiLinspace, out, start, end, steps); }
