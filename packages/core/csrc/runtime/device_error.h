// Error words of streams (dl/device_error.h): errors in the data of asynchronous work, raised at
// the next synchronization of the stream.
#pragma once

#include <c10/core/Stream.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "dl/device_error.h"

namespace dl::core {

// Base of the errors that ErrorMark raises: they are about an earlier call.
class LateError {
 public:
  virtual ~LateError() = default;
};

// The word of a stream, in device memory. NULL if operators must fail immediately: on a synchronous
// device, or if there is no memory for the word.
dl_device_error_t* error_word(c10::Stream stream) noexcept;
// Records that a call which may write to the stream's word has been enqueued.
void note_checked_call(c10::Stream stream) noexcept;

// Snapshot of the number of calls that may write to error words, taken before a synchronization of
// their streams or with an event. Cheap if there are none.
class ErrorMark {
 public:
  ErrorMark() = default;
  explicit ErrorMark(c10::Stream stream);
  // All streams of a device.
  explicit ErrorMark(int device);

  // Raises the first error of those calls, once: a LateError that is a c10::IndexError for an
  // index, otherwise a c10::Error. The calls must be complete. If several streams have errors, the
  // others are raised by later synchronizations.
  void raise() const;

 private:
  int device_ = 0;
  std::vector<std::pair<int64_t, uint64_t>> calls_;  // by stream
};

}  // namespace dl::core
