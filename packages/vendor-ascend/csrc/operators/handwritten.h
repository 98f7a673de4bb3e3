// Operators that expressions cannot describe (library/operators/*.yaml names them): their results,
// or the sizes of their results, are known only when the device has finished.
#ifndef DL_ASCEND_OPERATORS_HANDWRITTEN_H_
#define DL_ASCEND_OPERATORS_HANDWRITTEN_H_

#include "diopi/diopirt.h"
#include "dl/kit/library/call.h"

namespace dl::ascend {

diopiError_t equal_tensors(kit::library::Call& call, bool* out, diopiConstTensorHandle_t input,
                           diopiConstTensorHandle_t other);
diopiError_t nonzero(kit::library::Call& call, diopiTensorHandle_t* out,
                     diopiConstTensorHandle_t input);
diopiError_t masked_select(kit::library::Call& call, diopiTensorHandle_t* out,
                           diopiConstTensorHandle_t input, diopiConstTensorHandle_t mask);

}  // namespace dl::ascend

#endif  // DL_ASCEND_OPERATORS_HANDWRITTEN_H_
