// GPU: a failed check writes to the error word of the stream, without waiting for the device.
#ifndef DL_KERNELS_GPU_CHECK_H_
#define DL_KERNELS_GPU_CHECK_H_

#include <cstdint>
#include <cstring>

#include "dl_kernels/base/config.h"
#include "dl_kernels/base/data_error.h"
#include "dl_kernels/gpu/launch.h"
#include "dl_kernels/gpu/total.h"

DL_KERNELS_BEGIN

namespace gpu {

// The first error is kept.
DL_DEVICE void raise(dl_device_error_t* word, const dl_device_error_t& error) {
  const uint32_t none = DL_DEVICE_ERROR_NONE, writing = DL_DEVICE_ERROR_WRITING,
                 raised = DL_DEVICE_ERROR_RAISED;
  if (compare_and_swap(&word->state, none, writing) != none) return;
  word->kind = error.kind;
  word->value = error.value;
  word->position = error.position;
  word->low = error.low;
  word->high = error.high;
  word->number = error.number;
  for (int i = 0; i < static_cast<int>(sizeof(error.operator_name)); ++i)
    word->operator_name[i] = error.operator_name[i];
  for (int i = 0; i < static_cast<int>(sizeof(error.text)); ++i) word->text[i] = error.text[i];
  fence();
  (void)compare_and_swap(&word->state, writing, raised);
}

struct OperatorName {
  explicit OperatorName(const char* op) { std::strncpy(text, op, sizeof(text) - 1); }
  char text[sizeof(dl_device_error_t::operator_name)] = {};
};

// A single work item that runs after the search for the first invalid item and reports it if there
// is one.
template <class Check>
struct RaiseItem {
  dl_device_error_t* word;
  const int64_t* first;  // null: check item 0 directly
  int64_t none;          // value of `first` if no item is invalid
  OperatorName op;
  Check check;

  DL_DEVICE void operator()(int64_t) const {
    const int64_t i = first == nullptr ? 0 : *first;
    if (first == nullptr ? !check(i) : i == none) return;
    dl_device_error_t error{};
    for (int k = 0; k < static_cast<int>(sizeof(op.text)); ++k) error.operator_name[k] = op.text[k];
    check.describe(i, error);
    raise(word, error);
  }
};

// Launch RaiseItem. With `at_once`, or if the host has no error word, wait for the result and fail.
template <class Check>
diopiError_t raise_first(const Launch& launch, const char* op, const int64_t* first, int64_t none,
                         const Check& check, bool at_once = false) {
  const OperatorName name(op);
  dl_device_error_t* const word = at_once ? nullptr : launch.device_error();
  if (word != nullptr) {
    each(launch, 1, 1, RaiseItem<Check>{word, first, none, name, check});
    return diopiSuccess;
  }
  const Workspace<dl_device_error_t> own(launch, 1);
  clear_bytes(launch, own.data(), sizeof(dl_device_error_t));
  each(launch, 1, 1, RaiseItem<Check>{own.data(), first, none, name, check});
  const dl_device_error_t error = fetch(launch, own.data());
  return error.state == DL_DEVICE_ERROR_NONE ? diopiSuccess : fail_with(op, error);
}

struct Smaller {
  DL_FN int64_t operator()(int64_t a, int64_t b) const { return a < b ? a : b; }
};

// The index of an invalid item, or `none` for valid ones.
template <class Check>
struct InvalidPosition {
  Check check;
  int64_t none;
  DL_FN int64_t operator()(int64_t i) const { return check(i) ? i : none; }
};

// Copy an index, or `safe` if it is invalid; return the position of an invalid one, else `none`.
template <class Check>
struct CopyChecked {
  Check check;
  int64_t* to;
  int64_t safe, none;

  DL_FN int64_t operator()(int64_t i) const {
    const bool wrong = check(i);
    to[i] = wrong ? safe : check.indexes[i];
    return wrong ? i : none;
  }
};

}  // namespace gpu

template <class Check>
diopiError_t check_items(const Launch& launch, const char* op, int64_t count, const Check& check) {
  if (count <= 0) return diopiSuccess;
  if (count == 1) return gpu::raise_first(launch, op, nullptr, 0, check);
  const Workspace<int64_t> first(launch, 1);
  gpu::total(launch, count, count, gpu::Smaller{}, gpu::InvalidPosition<Check>{check, count},
             first.data());
  return gpu::raise_first(launch, op, first.data(), count, check);
}

// A copy of indices that are safe to read with, valid for the duration of a call.
class CheckedIndexes {
 public:
  // `safe` replaces invalid indices; `all_wrong`: there is no valid index, so every one is invalid.
  template <class Check>
  diopiError_t open(const Launch& launch, const char* op, const Check& check, int64_t count,
                    int64_t safe, bool all_wrong = false) {
    if (count == 0) return diopiSuccess;
    const gpu::CopyChecked<Check> copy{check, copy_.reserve(launch, count), safe, count};
    const Workspace<int64_t> first(launch, 1);
    gpu::total(launch, count, count, gpu::Smaller{}, copy, first.data());
    return gpu::raise_first(launch, op, first.data(), count, check, all_wrong);
  }
  const int64_t* data() const { return copy_.data(); }

 private:
  Workspace<int64_t> copy_;
};

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_CHECK_H_
