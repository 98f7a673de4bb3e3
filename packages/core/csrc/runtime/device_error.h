// Error words of streams (dl/device_error.h): asynchronous work records errors in its data there,
// and the next synchronization of the stream raises them.
#pragma once

#include <c10/core/Stream.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "dl/device_error.h"

namespace dl::core {

// Base class of the errors that ErrorMark raises: they belong to an earlier call.
class LateError {
 public:
  virtual ~LateError() = default;
};

// The error word of a stream, in device memory. NULL if operators must fail immediately, which is
// so on a synchronous device and if there is no memory for the word.
dl_device_error_t* error_word(c10::Stream stream) noexcept;
// Records that a call which may write to the stream's word has been enqueued.
void note_checked_call(c10::Stream stream) noexcept;

// Snapshot of the number of calls that may write to error words. It is taken before their streams
// are synchronized or together with an event. Cheap if there are no such calls.
class ErrorMark {
 public:
  ErrorMark() = default;
  explicit ErrorMark(c10::Stream stream);
  // Covers all streams of a device.
  explicit ErrorMark(int device);

  // Raises the first error of those calls, once: a LateError that is a c10::IndexError for an
  // index, otherwise a c10::Error. The calls must be complete. Errors of other streams are
  // raised by later synchronizations.
  void raise() const;

 private:
  int device_ = 0;
  std::vector<std::pair<int64_t, uint64_t>> calls_;  // by stream
};

}  // namespace dl::core
