// The error words of streams (dl/device_error.h): what work on an asynchronous device found wrong
// with its data, raised by who waits for the stream.
#pragma once

#include <c10/core/Stream.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "dl/device_error.h"

namespace dl::core {

// What ErrorMark raises: it is about an earlier call than the one that raises it.
class LateError {
 public:
  virtual ~LateError() = default;
};

// The word of a stream, in memory of the device. NULL where operators have to fail at once: on a
// synchronous device, and where there is no memory for it.
dl_device_error_t* error_word(c10::Stream stream) noexcept;
// A call that may write to the stream's word has been enqueued.
void note_checked_call(c10::Stream stream) noexcept;

// How far the calls of some streams had come that may write to their words: taken before a wait
// that covers them, or with an event. Costs next to nothing where there are none.
class ErrorMark {
 public:
  ErrorMark() = default;
  explicit ErrorMark(c10::Stream stream);
  // All streams of a device.
  explicit ErrorMark(int device);

  // Raises the first error of those calls, once: a LateError that is a c10::IndexError for an
  // index, a c10::Error otherwise. They must have been waited for. Of several streams with errors,
  // the others' are left to who waits next.
  void raise() const;

 private:
  int device_ = 0;
  std::vector<std::pair<int64_t, uint64_t>> calls_;  // by stream
};

}  // namespace dl::core
