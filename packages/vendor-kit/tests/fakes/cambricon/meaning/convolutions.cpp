// Convolutions and pooling of images in the layout NHWC.
#include "arguments.gen.h"

using namespace fake_cnnl;

namespace {

constexpr int64_t kAlgorithm = 3;

Tensor nchw(const Tensor& x) { return x.permute({0, 3, 1, 2}); }

// Padding at the top and bottom, left and right, which the engine takes as two numbers.
Ints padding(const Described& desc) {
  const Ints pad = desc.list("pad");
  demand(pad[0] == pad[1] && pad[2] == pad[3], "unequal padding is not simulated");
  return Ints{true, {pad[0], pad[2]}};
}
void demand_plain(const Described& desc, int64_t algo, const Number& alpha, const Number& beta) {
  demand(desc["compute_type"] == CNNL_DTYPE_FLOAT, "compute_type is not float");
  demand(algo == kAlgorithm, "the algorithm was not chosen by the library");
  demand(!alpha && !beta, "alpha and beta are not simulated");
}

}  // namespace

MEANING(ConvolutionForward) {
  demand_plain(conv_desc, algo, alpha, beta);
  demand(!bias || bias.sizes() == Sizes{y.size(3)}, "bias is not one per channel");
  RUN(diopiConvolution2d, nchw(y), nchw(x), nchw(w), bias, conv_desc.list("stride"),
      padding(conv_desc), conv_desc.list("dilation"), conv_desc["group_count"]);
}
MEANING(ConvolutionBackwardData) {
  demand_plain(conv_desc, algo, alpha, beta);
  RUN(diopiConvolution2dBackward, nchw(diff_x), Tensor(), Tensor(), nchw(diff_y),
      nchw(empty_like(diff_x)), nchw(w), nullptr, conv_desc.list("stride"), padding(conv_desc),
      conv_desc.list("dilation"), conv_desc["group_count"]);
}
MEANING(ConvolutionBackwardFilter) {
  demand_plain(conv_desc, algo, alpha, beta);
  RUN(diopiConvolution2dBackward, Tensor(), nchw(diff_w), Tensor(), nchw(diff_y), nchw(x),
      nchw(empty_like(diff_w)), nullptr, conv_desc.list("stride"), padding(conv_desc),
      conv_desc.list("dilation"), conv_desc["group_count"]);
}

namespace {

bool counts_padding(const Described& desc) {
  const int64_t mode = desc["mode"];
  demand(mode == CNNL_POOLING_AVERAGE_COUNT_INCLUDE_PADDING ||
             mode == CNNL_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING,
         "the mode is not simulated");
  for (const int64_t each : desc.list("dilation").values)
    demand(each == 1, "average pooling with dilation is not simulated");
  return mode == CNNL_POOLING_AVERAGE_COUNT_INCLUDE_PADDING;
}

}  // namespace

MEANING(PoolingForward) {
  demand(!alpha && !beta, "alpha and beta are not simulated");
  RUN(diopiAvgPool2d, nchw(y), nchw(x), pooling_desc.list("window"), pooling_desc.list("stride"),
      pooling_desc.list("padding"), pooling_desc["ceil_mode"] != 0, counts_padding(pooling_desc),
      nullptr);
}
// The gradient of an average needs neither y nor the elements of x.
MEANING(PoolingBackward) {
  demand(!alpha && !beta, "alpha and beta are not simulated");
  demand(!y && bool(x), "average pooling needs x, and y must be NULL");
  RUN(diopiAvgPool2dBackward, nchw(diff_x), nchw(diff_y), nchw(x), pooling_desc.list("window"),
      pooling_desc.list("stride"), pooling_desc.list("padding"), pooling_desc["ceil_mode"] != 0,
      counts_padding(pooling_desc), nullptr);
}
