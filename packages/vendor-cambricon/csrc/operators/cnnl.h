// CNNL in this process: its functions that create objects, and the values that its header states.
#ifndef DL_CAMBRICON_OPERATORS_CNNL_H_
#define DL_CAMBRICON_OPERATORS_CNNL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dl/kit/symbols.h"
#include "operators/cnnl_types.h"
#include "operators/header.h"

namespace dl::cambricon {

using Status = int;  // cnnlStatus_t

// X(function, type)
// clang-format off
#define DL_CAMBRICON_CNNL_FUNCTIONS(X)                                                             \
  X(cnnlGetErrorString, const char* (*)(Status))                                                   \
  X(cnnlCreate, Status (*)(cnnlHandle_t*))                                                         \
  X(cnnlSetQueue, Status (*)(cnnlHandle_t, void*))                                                 \
  X(cnnlCreateTensorDescriptor, Status (*)(cnnlTensorDescriptor_t*))                               \
  X(cnnlSetTensorDescriptorEx,                                                                     \
    Status (*)(cnnlTensorDescriptor_t, int, int, int, const int*, const int*))                     \
  X(cnnlDestroyTensorDescriptor, Status (*)(cnnlTensorDescriptor_t))                               \
  X(cnnlCreateActivationDescriptor, Status (*)(cnnlActivationDescriptor_t*))                       \
  X(cnnlSetActivationDescriptor_v6,                                                                \
    Status (*)(cnnlActivationDescriptor_t, int, int, int, float, int, float, float, bool, bool))   \
  X(cnnlDestroyActivationDescriptor, Status (*)(cnnlActivationDescriptor_t))                       \
  X(cnnlCreateOpTensorDescriptor, Status (*)(cnnlOpTensorDescriptor_t*))                           \
  X(cnnlSetOpTensorDescriptor, Status (*)(cnnlOpTensorDescriptor_t, int, int, int))                \
  X(cnnlDestroyOpTensorDescriptor, Status (*)(cnnlOpTensorDescriptor_t))                           \
  X(cnnlCreateReduceDescriptor, Status (*)(cnnlReduceDescriptor_t*))                               \
  X(cnnlSetReduceDescriptor_v2,                                                                    \
    Status (*)(cnnlReduceDescriptor_t, const int*, int, int, int, int, int, int, float))           \
  X(cnnlDestroyReduceDescriptor, Status (*)(cnnlReduceDescriptor_t))                               \
  X(cnnlCreateConvolutionDescriptor, Status (*)(cnnlConvolutionDescriptor_t*))                     \
  X(cnnlSetConvolutionDescriptor,                                                                  \
    Status (*)(cnnlConvolutionDescriptor_t, int, const int*, const int*, const int*, int, int))    \
  X(cnnlDestroyConvolutionDescriptor, Status (*)(cnnlConvolutionDescriptor_t))                     \
  X(cnnlGetConvolutionForwardAlgorithm,                                                            \
    Status (*)(cnnlHandle_t, cnnlConvolutionDescriptor_t, cnnlTensorDescriptor_t,                  \
               cnnlTensorDescriptor_t, cnnlTensorDescriptor_t, int, int*))                         \
  X(cnnlGetConvolutionBackwardDataAlgorithm,                                                       \
    Status (*)(cnnlHandle_t, cnnlTensorDescriptor_t, cnnlTensorDescriptor_t,                       \
               cnnlConvolutionDescriptor_t, cnnlTensorDescriptor_t, int, int*))                    \
  X(cnnlGetConvolutionBackwardFilterAlgorithm,                                                     \
    Status (*)(cnnlHandle_t, cnnlConvolutionDescriptor_t, cnnlTensorDescriptor_t,                  \
               cnnlTensorDescriptor_t, cnnlTensorDescriptor_t, int, int*))                         \
  X(cnnlCreatePoolingDescriptor, Status (*)(cnnlPoolingDescriptor_t*))                             \
  X(cnnlSetPooling2dDescriptor_v2,                                                                 \
    Status (*)(cnnlPoolingDescriptor_t, int, int, int, int, int, int, int, int, int, int, int,     \
               int, bool))                                                                         \
  X(cnnlDestroyPoolingDescriptor, Status (*)(cnnlPoolingDescriptor_t))                             \
  X(cnnlMatMulDescCreate, Status (*)(cnnlMatMulDescriptor_t*))                                     \
  X(cnnlSetMatMulDescAttr, Status (*)(cnnlMatMulDescriptor_t, int, const void*, size_t))           \
  X(cnnlMatMulDescDestroy, Status (*)(cnnlMatMulDescriptor_t))                                     \
  X(cnnlMatMulAlgoCreate, Status (*)(cnnlMatMulAlgo_t*))                                           \
  X(cnnlMatMulAlgoDestroy, Status (*)(cnnlMatMulAlgo_t))                                           \
  X(cnnlCreateMatMulHeuristicResult, Status (*)(cnnlMatMulHeuristicResult_t*))                     \
  X(cnnlDestroyMatMulHeuristicResult, Status (*)(cnnlMatMulHeuristicResult_t))                     \
  X(cnnlGetMatMulAlgoHeuristic,                                                                    \
    Status (*)(cnnlHandle_t, cnnlMatMulDescriptor_t, cnnlTensorDescriptor_t,                       \
               cnnlTensorDescriptor_t, cnnlTensorDescriptor_t, cnnlTensorDescriptor_t, void*, int, \
               cnnlMatMulHeuristicResult_t*, int*))                                                \
  X(cnnlGetMatMulHeuristicResult,                                                                  \
    Status (*)(cnnlMatMulHeuristicResult_t, cnnlMatMulAlgo_t, size_t*))                            \
  X(cnnlGetBatchMatMulAlgoHeuristic,                                                               \
    Status (*)(cnnlHandle_t, cnnlMatMulDescriptor_t, cnnlTensorDescriptor_t,                       \
               cnnlTensorDescriptor_t, cnnlTensorDescriptor_t, void*, int,                         \
               cnnlMatMulHeuristicResult_t*, int*))                                                \
  X(cnnlGetBatchMatMulHeuristicResult,                                                             \
    Status (*)(cnnlMatMulHeuristicResult_t, cnnlMatMulAlgo_t, size_t*))
// clang-format on

class Cnnl : public kit::Library {
 public:
  Cnnl();

#define DL_CAMBRICON_CNNL_MEMBER(function, ...) kit::Symbol<__VA_ARGS__> function{*this, #function};
  DL_CAMBRICON_CNNL_FUNCTIONS(DL_CAMBRICON_CNNL_MEMBER)
#undef DL_CAMBRICON_CNNL_MEMBER

  // Returns the value of an enumerator. Declines the call if the installed header does not state
  // it.
  int64_t value(const char* name) const;
  // Returns false if the header declares the function with another number of arguments than this
  // vendor passes: it is not called then.
  bool takes(const char* function, int arguments) const;
  // Declines the call unless the status is success.
  void check(Status status, const char* function);
  // Returns "CNNL_STATUS_BAD_PARAM (3)".
  std::string describe(Status status);

 private:
  const std::string header_path_;
  const Header header_;
  std::string disagreement_;  // between the header and the numbers of dtypes that were compiled in
};

// Opened on the first call of an operator.
Cnnl& the_cnnl();
// Paths of the library, the preferred one first.
std::vector<std::string> cnnl_names();

}  // namespace dl::cambricon

#endif  // DL_CAMBRICON_OPERATORS_CNNL_H_
