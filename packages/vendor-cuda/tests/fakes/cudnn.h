// Descriptors of the fake cuDNN: their attributes, and the checks when they are finalized.
#ifndef DL_CUDA_TESTS_FAKES_CUDNN_H_
#define DL_CUDA_TESTS_FAKES_CUDNN_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "dl/kit/cuda_driver.h"
#include "libraries/elements.h"
#include "library/cudnn_api.h"

struct dl::cuda::cudnn::HandleObject {
  dl::kit::cuda::Context context = nullptr;
  dl::kit::cuda::Stream stream = nullptr;
  bool has_stream = false;
};

namespace fake {

using namespace dl::cuda::cudnn;

constexpr int kMostDimensions = 8;  // CUDNN_DIM_MAX
constexpr int kOtherTypes = 3003;

[[noreturn]] inline void refuse(const std::string& what) {
  std::fprintf(stderr, "fake cuDNN: %s\n", what.c_str());
  std::abort();
}
inline void require(bool holds, const std::string& what) {
  if (!holds) refuse(what);
}

// Names of descriptor kinds in settings and messages.
inline const char* name_of(int kind) {
  switch (kind) {
    case kConvolutionDescriptor:
      return "convolution";
    case kEngine:
      return "engine";
    case kEngineConfig:
      return "config";
    case kHeuristics:
      return "heuristics";
    case kPlan:
      return "plan";
    case kKnobChoice:
      return "choice";
    case kForward:
      return "forward";
    case kWeightGradient:
      return "weight gradient";
    case kInputGradient:
      return "input gradient";
    case kGraph:
      return "graph";
    case kVariantPack:
      return "pack";
    case kTensor:
      return "tensor";
    default:
      refuse("a descriptor of an unknown kind, " + std::to_string(kind));
  }
}

struct Object {
  explicit Object(int of) : kind(of) {}

  int kind;
  bool finished = false;
  int engine = -1;  // index of the engine, in a configuration or an engine
  const Object* graph = nullptr;

  struct Value {
    int type;
    int64_t count;
    std::vector<char> bytes;
  };
  std::map<int, Value> values;

  template <class T>
  std::vector<T> all(int name) const {
    const auto found = values.find(name);
    require(found != values.end(),
            std::string(name_of(kind)) + " without attribute " + std::to_string(name));
    std::vector<T> list(static_cast<size_t>(found->second.count));
    std::memcpy(list.data(), found->second.bytes.data(), list.size() * sizeof(T));
    return list;
  }
  template <class T>
  T one(int name) const {
    return all<T>(name).at(0);
  }
  const Object& part(int name) const { return *one<const Object*>(name); }
  // Returns alpha or beta.
  double scale(int name) const {
    return values.at(name).type == kDoubleType ? one<double>(name)
                                               : static_cast<double>(one<float>(name));
  }
};

// Requirements of an attribute.
struct Rule {
  int kind, name, type;
  int64_t most;       // maximum number of elements; the minimum is one
  int part_kind = 0;  // kind of a descriptor; 0 for an operation
  size_t bytes = 8;   // size of an element
};

inline const Rule* rule_of(int kind, int name, int type) {
  constexpr int64_t kAxes = kMostDimensions - 2;
  static const Rule rules[] = {
      {kTensor, kTensorId, kInt64Type, 1},
      {kTensor, kTensorType, kDataTypeType, 1, 0, 4},
      {kTensor, kTensorAlignment, kInt64Type, 1},
      {kTensor, kTensorSizes, kInt64Type, kMostDimensions},
      {kTensor, kTensorStrides, kInt64Type, kMostDimensions},
      {kConvolutionDescriptor, kSpatialDimensions, kInt64Type, 1},
      {kConvolutionDescriptor, kComputeType, kDataTypeType, 1, 0, 4},
      {kConvolutionDescriptor, kConvolutionMode, kConvolutionModeType, 1, 0, 4},
      {kConvolutionDescriptor, kStrides, kInt64Type, kAxes},
      {kConvolutionDescriptor, kDilations, kInt64Type, kAxes},
      {kConvolutionDescriptor, kPaddingBefore, kInt64Type, kAxes},
      {kConvolutionDescriptor, kPaddingAfter, kInt64Type, kAxes},
      {kForward, kForwardConvolution, kDescriptorType, 1, kConvolutionDescriptor},
      {kForward, kForwardInput, kDescriptorType, 1, kTensor},
      {kForward, kForwardWeight, kDescriptorType, 1, kTensor},
      {kForward, kForwardOutput, kDescriptorType, 1, kTensor},
      {kForward, kForwardAlpha, kFloatType, 1, 0, 4},
      {kForward, kForwardAlpha, kDoubleType, 1},
      {kForward, kForwardBeta, kFloatType, 1, 0, 4},
      {kForward, kForwardBeta, kDoubleType, 1},
      {kInputGradient, kInputGradientConvolution, kDescriptorType, 1, kConvolutionDescriptor},
      {kInputGradient, kInputGradientInput, kDescriptorType, 1, kTensor},
      {kInputGradient, kInputGradientWeight, kDescriptorType, 1, kTensor},
      {kInputGradient, kInputGradientOutput, kDescriptorType, 1, kTensor},
      {kInputGradient, kInputGradientAlpha, kFloatType, 1, 0, 4},
      {kInputGradient, kInputGradientAlpha, kDoubleType, 1},
      {kInputGradient, kInputGradientBeta, kFloatType, 1, 0, 4},
      {kInputGradient, kInputGradientBeta, kDoubleType, 1},
      {kWeightGradient, kWeightGradientConvolution, kDescriptorType, 1, kConvolutionDescriptor},
      {kWeightGradient, kWeightGradientInput, kDescriptorType, 1, kTensor},
      {kWeightGradient, kWeightGradientWeight, kDescriptorType, 1, kTensor},
      {kWeightGradient, kWeightGradientOutput, kDescriptorType, 1, kTensor},
      {kWeightGradient, kWeightGradientAlpha, kFloatType, 1, 0, 4},
      {kWeightGradient, kWeightGradientAlpha, kDoubleType, 1},
      {kWeightGradient, kWeightGradientBeta, kFloatType, 1, 0, 4},
      {kWeightGradient, kWeightGradientBeta, kDoubleType, 1},
      {kGraph, kGraphHandle, kHandleType, 1},
      {kGraph, kGraphOperations, kDescriptorType, 1},
      {kHeuristics, kHeuristicGraph, kDescriptorType, 1, kGraph},
      {kHeuristics, kHeuristicMode, kHeuristicModeType, 1, 0, 4},
      {kPlan, kPlanHandle, kHandleType, 1},
      {kPlan, kPlanConfig, kDescriptorType, 1, kEngineConfig},
      {kVariantPack, kPackIds, kInt64Type, kMostDimensions},
      {kVariantPack, kPackPointers, kPointerType, kMostDimensions},
      {kVariantPack, kPackWorkspace, kPointerType, 1},
  };
  for (const Rule& rule : rules) {
    if (rule.kind == kind && rule.name == name && rule.type == type) return &rule;
  }
  return nullptr;
}

inline size_t bytes_of(int type) {
  require(type == kFloat32 || type == kFloat64 || type == kFloat16 || type == kBfloat16,
          "an unknown data type");
  return type == kFloat64 ? 8 : type == kFloat32 ? 4 : 2;
}

// An operation of any of the three kinds.
struct Operation {
  const Object &self, &convolution, &input, &weight, &output;
  double alpha, beta;

  const Object& result() const {
    return self.kind == kForward ? output : self.kind == kInputGradient ? input : weight;
  }
};

inline Operation operation_of(const Object& self) {
  // The attributes of the three kinds are in the same order, except for weight, input and output of
  // the gradients.
  switch (self.kind) {
    case kForward:
      return {self,
              self.part(kForwardConvolution),
              self.part(kForwardInput),
              self.part(kForwardWeight),
              self.part(kForwardOutput),
              self.scale(kForwardAlpha),
              self.scale(kForwardBeta)};
    case kInputGradient:
      return {self,
              self.part(kInputGradientConvolution),
              self.part(kInputGradientInput),
              self.part(kInputGradientWeight),
              self.part(kInputGradientOutput),
              self.scale(kInputGradientAlpha),
              self.scale(kInputGradientBeta)};
    default:
      return {self,
              self.part(kWeightGradientConvolution),
              self.part(kWeightGradientInput),
              self.part(kWeightGradientWeight),
              self.part(kWeightGradientOutput),
              self.scale(kWeightGradientAlpha),
              self.scale(kWeightGradientBeta)};
  }
}

inline void check_tensor(const Object& tensor) {
  const auto sizes = tensor.all<int64_t>(kTensorSizes);
  const auto strides = tensor.all<int64_t>(kTensorStrides);
  require(sizes.size() >= 4 && sizes.size() == strides.size(), "a tensor of too few dimensions");
  for (size_t d = 0; d < sizes.size(); ++d)
    require(sizes[d] > 0 && strides[d] > 0, "a size or stride of 0");
  const auto alignment = tensor.one<int64_t>(kTensorAlignment);
  require(alignment > 0 && (alignment & (alignment - 1)) == 0 &&
              alignment % static_cast<int64_t>(bytes_of(tensor.one<int>(kTensorType))) == 0,
          "an alignment below that of the elements");
  (void)tensor.one<int64_t>(kTensorId);
}

inline void check_convolution(const Object& self) {
  const auto axes = static_cast<size_t>(self.one<int64_t>(kSpatialDimensions));
  for (const int name : {kStrides, kDilations, kPaddingBefore, kPaddingAfter}) {
    const auto values = self.all<int64_t>(name);
    require(values.size() == axes, "a list without an element for each axis");
    const int64_t least = name == kStrides || name == kDilations ? 1 : 0;
    for (const int64_t value : values) require(value >= least, "an invalid window");
  }
  require(self.one<int>(kConvolutionMode) == kCrossCorrelation, "flipped windows");
}

inline void check_operation(const Object& self) {
  const Operation operation = operation_of(self);
  const auto input = operation.input.all<int64_t>(kTensorSizes),
             weight = operation.weight.all<int64_t>(kTensorSizes),
             output = operation.output.all<int64_t>(kTensorSizes);
  const Object& convolution = operation.convolution;
  const auto axes = static_cast<size_t>(convolution.one<int64_t>(kSpatialDimensions));
  require(input.size() == axes + 2 && weight.size() == axes + 2 && output.size() == axes + 2,
          "tensors with another number of dimensions than the convolution");
  const int64_t groups = input[1] / weight[1];
  require(groups * weight[1] == input[1] && weight[0] % groups == 0, "groups that do not match");
  require(output[0] == input[0] && output[1] == weight[0], "an output of the wrong size");
  for (size_t i = 0; i < axes; ++i) {
    const auto at = [&](int name) { return convolution.all<int64_t>(name)[i]; };
    const int64_t room = input[i + 2] + at(kPaddingBefore) + at(kPaddingAfter) -
                         at(kDilations) * (weight[i + 2] - 1) - 1;
    require(room >= 0 && output[i + 2] == room / at(kStrides) + 1, "windows that do not match");
  }
  const bool is_wide = operation.weight.one<int>(kTensorType) == kFloat64;
  require(convolution.one<int>(kComputeType) == (is_wide ? kFloat64 : kFloat32),
          "an unsupported compute type");
  for (const auto& [name, value] : self.values) {
    if (value.type == kFloatType || value.type == kDoubleType)
      require((value.type == kDoubleType) == is_wide, "an unsupported type of alpha and beta");
  }
}

}  // namespace fake

#endif  // DL_CUDA_TESTS_FAKES_CUDNN_H_
