// Types of CNNL's functions. Its header is not public, so objects are opaque, and enumerations have
// the type that C gives them.
#ifndef DL_CAMBRICON_OPERATORS_CNNL_TYPES_H_
#define DL_CAMBRICON_OPERATORS_CNNL_TYPES_H_

#include <cstddef>

using cnnlHandle_t = struct cnnlContext*;
using cnnlTensorDescriptor_t = struct cnnlTensorStruct*;
using cnnlActivationDescriptor_t = struct cnnlActivationStruct*;
using cnnlConvolutionDescriptor_t = struct cnnlConvolutionStruct*;
using cnnlMatMulDescriptor_t = struct cnnlMatMulStruct*;
using cnnlMatMulAlgo_t = struct cnnlMatMulAlgoStruct*;
using cnnlMatMulHeuristicResult_t = struct cnnlMatMulHeuristicStruct*;
using cnnlOpTensorDescriptor_t = struct cnnlOpTensorStruct*;
using cnnlPoolingDescriptor_t = struct cnnlPoolingStruct*;
using cnnlReduceDescriptor_t = struct cnnlReduceStruct*;

using cnnlBatchNormMode_t = int;
using cnnlBatchNormOps_t = int;
using cnnlBitComputeOp_t = int;
using cnnlCastDataType_t = int;
using cnnlComputationPreference_t = int;
using cnnlConvolutionBwdDataAlgo_t = int;
using cnnlConvolutionBwdFilterAlgo_t = int;
using cnnlConvolutionForwardAlgo_t = int;
using cnnlLogBase_t = int;
using cnnlLogicOp_t = int;
using cnnlMaskedOp_t = int;
using cnnlNanPropagation_t = int;
using cnnlNlllossAlgorithm_t = int;
using cnnlPointerMode_t = int;
using cnnlScatterMode_t = int;
using cnnlSoftmaxAlgorithm_t = int;
using cnnlSoftmaxMode_t = int;

// Names for the uses of C's own types, by which the generated code knows what to pass: a number in
// host memory, scratch memory on the device, and its size.
using cnnlScalar_t = const void*;
using cnnlWorkspace_t = void*;
using cnnlWorkspaceSize_t = std::size_t;

#endif  // DL_CAMBRICON_OPERATORS_CNNL_TYPES_H_
