// Driver API: kernel parameters, which CUDA libraries query.

#include "launching.h"

using namespace sim;

DL_EXPORT CUresult CUDAAPI cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset,
                                              size_t* size) {
  DL_ENTER("cuFuncGetParamInfo");
  std::shared_ptr<Image> image;
  if (const CUresult failed = image_of(function, image)) return failed;
  const auto& parameters = image->kernel().parameters;
  if (offset == nullptr || index >= parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = parameters[index].first;
  if (size != nullptr) *size = parameters[index].second;
  return CUDA_SUCCESS;
}
