// The functions of cuDNN 9 that convolutions call, with the signatures and constants of
// cudnn_graph.h, which tests compare. cuDNN 8 has the same functions but other status values.
#ifndef DL_CUDA_LIBRARY_CUDNN_API_H_
#define DL_CUDA_LIBRARY_CUDNN_API_H_

#include <cstddef>
#include <cstdint>

#include "dl/kit/symbols.h"
#include "extensions/companions.h"

namespace dl::cuda::cudnn {

using Handle = struct HandleObject*;
using Descriptor = void*;

constexpr size_t kOldest = 90000;
constexpr size_t kOldestRuntime = 13000;  // CUDA's version number

// Values of cudnnStatus_t. The thousand from kUnsupported on mean that cuDNN declines.
enum : int { kSuccess = 0, kUnsupported = 3000, kInternalError = 4000 };
// Values of cudnnDataType_t, cudnnConvolutionMode_t and cudnnBackendHeurMode_t.
enum : int { kFloat32 = 0, kFloat64 = 1, kFloat16 = 2, kBfloat16 = 9 };
enum : int { kCrossCorrelation = 1 };
enum : int { kFallbackMode = 2, kModeA = 3 };
// Values of cudnnBackendNumericalNote_t.
enum : int {
  kTensorCore = 0,
  kDownConverted = 1,
  kReducedSums = 2,
  kFft = 3,
  kNondeterministic = 4,
  kWinograd = 5,
  kWinograd4x4 = 6,
  kWinograd6x6 = 7,
  kWinograd13x13 = 8,
};
// Values of cudnnBackendKnobType_t.
enum : int { kWorkspaceKnob = 25 };
// Values of cudnnBackendDescriptorType_t.
enum : int {
  kConvolutionDescriptor = 1,
  kEngine = 2,
  kEngineConfig = 3,
  kHeuristics = 4,
  kPlan = 5,
  kKnobChoice = 7,
  kForward = 10,
  kWeightGradient = 11,
  kInputGradient = 12,
  kGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
};
// Values of cudnnBackendAttributeType_t.
enum : int {
  kHandleType = 0,
  kDataTypeType = 1,
  kInt64Type = 3,
  kFloatType = 4,
  kDoubleType = 5,
  kPointerType = 6,
  kConvolutionModeType = 7,
  kHeuristicModeType = 8,
  kKnobType = 9,
  kNoteType = 11,
  kDescriptorType = 15,
};
// Values of cudnnBackendAttributeName_t.
enum : int {
  kComputeType = 100,
  kConvolutionMode = 101,
  kDilations = 102,
  kStrides = 103,
  kPaddingAfter = 104,
  kPaddingBefore = 105,
  kSpatialDimensions = 106,
  kHeuristicMode = 200,
  kHeuristicGraph = 201,
  kHeuristicResults = 202,
  kConfigEngine = 300,
  kConfigKnobs = 302,
  kPlanHandle = 400,
  kPlanConfig = 401,
  kPlanWorkspace = 402,
  kChoiceOfKnob = 600,
  kChoiceValue = 601,
  kForwardAlpha = 700,
  kForwardBeta = 701,
  kForwardConvolution = 702,
  kForwardWeight = 703,
  kForwardInput = 704,
  kForwardOutput = 705,
  kInputGradientAlpha = 706,
  kInputGradientBeta = 707,
  kInputGradientConvolution = 708,
  kInputGradientWeight = 709,
  kInputGradientInput = 710,
  kInputGradientOutput = 711,
  kWeightGradientAlpha = 712,
  kWeightGradientBeta = 713,
  kWeightGradientConvolution = 714,
  kWeightGradientWeight = 715,
  kWeightGradientInput = 716,
  kWeightGradientOutput = 717,
  kGraphHandle = 800,
  kGraphOperations = 801,
  kTensorAlignment = 900,
  kTensorType = 901,
  kTensorSizes = 902,
  kTensorStrides = 903,
  kTensorId = 906,
  kPackIds = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kEngineNotes = 1303,
};

// X(member name, symbol, type)
// clang-format off
#define DL_CUDA_CUDNN_FUNCTIONS(X)                                                                 \
  X(version, cudnnGetVersion, size_t (*)())                                                        \
  X(runtime_version, cudnnGetCudartVersion, size_t (*)())                                          \
  X(error_string, cudnnGetErrorString, const char* (*)(int))                                       \
  X(create, cudnnCreate, int (*)(cudnn::Handle*))                                                  \
  X(set_stream, cudnnSetStream, int (*)(cudnn::Handle, void*))                                     \
  X(descriptor, cudnnBackendCreateDescriptor, int (*)(int, cudnn::Descriptor*))                    \
  X(destroy, cudnnBackendDestroyDescriptor, int (*)(cudnn::Descriptor))                               \
  X(finalize, cudnnBackendFinalize, int (*)(cudnn::Descriptor))                                    \
  X(set, cudnnBackendSetAttribute,                                                                 \
    int (*)(cudnn::Descriptor, int, int, int64_t, const void*))                                    \
  X(get, cudnnBackendGetAttribute,                                                                 \
    int (*)(cudnn::Descriptor, int, int, int64_t, int64_t*, void*))                                \
  X(execute, cudnnBackendExecute,                                                                  \
    int (*)(cudnn::Handle, cudnn::Descriptor, cudnn::Descriptor))
// clang-format on

class Library : public kit::Library {
 public:
  Library() : kit::Library(cudnn_companion().names(), "cuDNN", cudnn_companion().remedy()) {}

#define DL_CUDA_CUDNN_MEMBER(member, symbol, ...) kit::Symbol<__VA_ARGS__> member{*this, #symbol};
  DL_CUDA_CUDNN_FUNCTIONS(DL_CUDA_CUDNN_MEMBER)
#undef DL_CUDA_CUDNN_MEMBER
};

// Returns the process's library, opened by the first convolution. Null if cuDNN or cuBLASLt is
// missing, if cuDNN is too old or for an earlier CUDA, or if DL_CUDA_LIBRARIES is "off".
Library* library();

}  // namespace dl::cuda::cudnn

#endif  // DL_CUDA_LIBRARY_CUDNN_API_H_
