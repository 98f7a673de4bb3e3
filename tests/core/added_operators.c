/* A library with added operators, whose macros select what it does:
 * - MARK: added to the sums of diopiAdd, so that its results can be told from the vendor's
 * - WORDS: diopiAdd fails with these words
 * - OFFSET: added to the fingerprint of diopiAdd
 * - NAME: name under which it lists diopiAdd
 * - DEVICE: the only device for which it has operators
 * - ZERO: lists diopiZeroInp in place of diopiAdd, which enqueues a memory_set of the vendor
 * - CRASHES: crashes when it is loaded
 * - REFUSES: returns an error in place of operators
 * - LIES: lists operators at an address that is not memory
 * diopiAdd declines matrices. */
#include "dl/added_operators.h"

#include <stdlib.h>

#include "dl/operator.h"

#ifndef MARK
#define MARK 0
#endif
#ifndef OFFSET
#define OFFSET 0
#endif
#ifndef NAME
#define NAME "diopiAdd"
#endif
#ifndef DEVICE
#define DEVICE target->device
#endif

static _Thread_local const char* said = NULL;

static int is_contiguous(const dl_tensor_prefix_t* tensor) {
  int64_t stride = 1;
  for (int64_t i = tensor->ndim - 1; i >= 0; --i) {
    if (tensor->strides[i] != stride) return 0;
    stride *= tensor->sizes[i];
  }
  return 1;
}

#ifdef ZERO

static diopiError_t zero(diopiContextHandle_t ctx, diopiTensorHandle_t input) {
  const dl_tensor_prefix_t* tensor = diopirt_tensor(input);
  if (!is_contiguous(tensor)) {
    said = "[diopiZeroInp] only contiguous tensors";
    return diopiNoImplement;
  }
  if (tensor->numel == 0) return diopiSuccess;
  dl_vendor_t* vendor = dl_context_vendor(ctx);
  dl_status_t* status =
      vendor->table->memory_set(vendor, dl_context_device(ctx), tensor->data, 0,
                                (uint64_t)tensor->numel * sizeof(float), dl_context_stream(ctx));
  if (status == NULL) return diopiSuccess;
  status->release(status);
  return diopiErrorOccurred;
}

static const dl_operator_t kOperators[] = {DL_C_OPERATOR_BY(zero, diopiZeroInp)};

#else

static diopiError_t add(diopiContextHandle_t ctx, diopiTensorHandle_t out,
                        diopiConstTensorHandle_t input, diopiConstTensorHandle_t other,
                        const diopiScalar_t* alpha) {
  (void)ctx;
  const int is_integer = alpha->stype <= diopi_dtype_uint64;
  const float factor = (float)(is_integer ? (double)alpha->ival : alpha->fval);
  const dl_tensor_prefix_t* tensors[] = {diopirt_tensor(out), diopirt_tensor(input),
                                         diopirt_tensor(other)};
  for (int i = 0; i < 3; ++i) {
    const dl_tensor_prefix_t* one = tensors[i];
    if (one->dtype != diopi_dtype_float32 || one->ndim == 2 || !is_contiguous(one) ||
        one->numel != tensors[0]->numel) {
      said = "no matrices";
      return diopiNoImplement;
    }
  }
#ifdef WORDS
  said = WORDS;
  return diopiErrorOccurred;
#endif
  float* sums = tensors[0]->data;
  const float* a = tensors[1]->data;
  const float* b = tensors[2]->data;
  for (int64_t i = 0; i < tensors[0]->numel; ++i) sums[i] = a[i] + factor * b[i] + MARK;
  return diopiSuccess;
}

/* Listed without DL_C_OPERATOR_BY, whose name and fingerprint are always right. */
static const dl_operator_t kOperators[] = {
    {NAME, DIOPI_FINGERPRINT_diopiAdd + OFFSET, (dl_function_t)(void (*)(void))add, 0}};

#endif

static const char* last_error(void) { return said; }

#ifdef REFUSES
static void keep(dl_status_t* status) { (void)status; }
static dl_status_t refusal = {
    sizeof(dl_status_t), DL_UNAVAILABLE, 0, "no licence", NULL, keep, NULL};
#endif

#ifdef CRASHES
__attribute__((constructor)) static void crash(void) { abort(); }
#endif

DL_EXPORT dl_status_t* dl_operators_v1(const dl_operators_target_t* target,
                                       dl_added_operators_t* out) {
#ifdef REFUSES
  return &refusal;
#endif
  const int everywhere = target->properties == NULL;
  out->version = "3";
  out->operators = kOperators;
  out->count = everywhere || target->device == DEVICE ? 1 : 0;
  out->last_error = last_error;
#ifdef LIES
  out->operators = (const dl_operator_t*)16;
#endif
  return NULL;
}
