// Arguments of CNNL's functions: handles, tensor descriptors, and numbers in host memory.
#ifndef DL_CAMBRICON_OPERATORS_OBJECTS_H_
#define DL_CAMBRICON_OPERATORS_OBJECTS_H_

#include <cstring>
#include <limits>
#include <string>

#include "dl/kit/library/handle_descriptors.h"
#include "dl/kit/library/host_elements.h"
#include "operators/cnnl.h"

namespace dl::cambricon {

class Objects {
 public:
  static constexpr const char* kName = "CNNL";

  bool supports(const kit::library::Function& function) {
    return the_cnnl().takes(function.name, function.count);
  }

  void* create_handle() {
    cnnlHandle_t made = nullptr;
    return the_cnnl().cnnlCreate(&made) == 0 ? made : nullptr;
  }
  int bind(void* handle, void* stream) {
    return the_cnnl().cnnlSetQueue(static_cast<cnnlHandle_t>(handle), stream);
  }

  void* create_descriptor(const kit::library::View& x, int dtype, int format) {
    Cnnl& cnnl = the_cnnl();
    // CNNL's tensors have one dimension at least.
    int sizes[kit::library::kMaxDims] = {1}, strides[kit::library::kMaxDims] = {1};
    for (int d = 0; d < x.ndim; ++d) {
      sizes[d] = narrow(x.sizes[d]);
      strides[d] = narrow(x.strides[d]);
    }
    cnnlTensorDescriptor_t made = nullptr;
    if (cnnl.cnnlCreateTensorDescriptor(&made) != 0) return nullptr;
    const Status status = cnnl.cnnlSetTensorDescriptorEx(made, format, dtype,
                                                         x.ndim == 0 ? 1 : x.ndim, sizes, strides);
    if (status == 0) return made;
    cnnl.cnnlDestroyTensorDescriptor(made);
    cnnl.check(status, "cnnlSetTensorDescriptorEx");
    return nullptr;
  }
  void destroy_descriptor(void* made) {
    the_cnnl().cnnlDestroyTensorDescriptor(static_cast<cnnlTensorDescriptor_t>(made));
  }

  // A number in the dtype that it has, which the functions expect.
  const void* scalar(const diopiScalar_t& given, kit::library::ScalarMemory& room) {
    if (given.stype == diopi_dtype_int64)
      std::memcpy(room.bytes, &given.ival, sizeof given.ival);
    else
      kit::library::store(room.bytes, 0, given.stype, kit::number_of<double>(&given));
    return room.bytes;
  }

  // CNNL_STATUS_BAD_PARAM and CNNL_STATUS_NOT_SUPPORTED: decided before anything runs.
  bool declines(int status) { return status == 3 || status == 7; }
  // CNNL_STATUS_ALLOC_FAILED.
  dl_code_t code(int status) { return status == 2 ? DL_OUT_OF_MEMORY : DL_ERROR; }
  std::string message(int status) {
    return status < 0 ? "cnnlCreate failed" : the_cnnl().describe(status);
  }

 private:
  static int narrow(int64_t value) {
    if (value > std::numeric_limits<int>::max())
      kit::library::refuse("a tensor is larger than a descriptor of CNNL states");
    return static_cast<int>(value);
  }
};

}  // namespace dl::cambricon

#endif  // DL_CAMBRICON_OPERATORS_OBJECTS_H_
