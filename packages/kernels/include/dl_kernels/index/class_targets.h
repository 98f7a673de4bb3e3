// Class indices as targets of losses.
#ifndef DL_KERNELS_INDEX_CLASS_TARGETS_H_
#define DL_KERNELS_INDEX_CLASS_TARGETS_H_

#include <cstdint>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/data_error.h"
#include "dl_kernels/base/error.h"
#include "dl_kernels/base/tensor_ref.h"
#include "dl_kernels/parallel/check.h"
#include "dl_kernels/parallel/launch.h"

DL_KERNELS_BEGIN

struct NoClass {
  const int64_t* indexes;
  int64_t classes, ignored;

  DL_FN bool operator()(int64_t i) const {
    return indexes[i] != ignored && (indexes[i] < 0 || indexes[i] >= classes);
  }
  DL_FN void describe(int64_t i, dl_device_error_t& error) const {
    describe_as(error, DL_DEVICE_ERROR_INDEX,
                "target {value} at position {position} is out of range for {high} classes");
    error.value = indexes[i];
    error.position = i;
    error.high = classes;
  }
};

// Invalid classes are treated like ignored ones from here on.
inline diopiError_t check_targets(const Launch& launch, const char* op, const int64_t* targets,
                                  int64_t count, int64_t classes, int64_t ignored,
                                  CheckedIndexes& checked) {
  return checked.open(launch, op, NoClass{targets, classes, ignored}, count, ignored);
}

inline diopiError_t check_weights(const char* op, diopiConstTensorHandle_t weight,
                                  diopiConstTensorHandle_t total_weight, int64_t classes) {
  if (!absent_or_numel(weight, classes)) {
    return fail(op, "there are %lld weights for %lld classes", (long long)ref(weight).numel,
                (long long)classes);
  }
  if (!absent_or_numel(total_weight, 1)) return fail(op, "the total weight needs 1 element");
  return diopiSuccess;
}

DL_KERNELS_END

#endif  // DL_KERNELS_INDEX_CLASS_TARGETS_H_
