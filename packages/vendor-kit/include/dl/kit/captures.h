// Constants for stream captures that CUDA's driver and HIP share.
#ifndef DL_KIT_CAPTURES_H_
#define DL_KIT_CAPTURES_H_

#include "dl/kit/base.h"

DL_KIT_BEGIN

// Capture mode that restricts no other call.
constexpr int kCaptureRelaxed = 2;

// Values of CUresult and hipError_t.
enum : int { kCaptureUnsupported = 900, kCaptureWrongThread = 908 };

// Returns true if the error reports a call that a capturing stream, or one of its events, does not
// allow.
constexpr bool is_capture_error(int code) {
  return code >= kCaptureUnsupported && code <= kCaptureWrongThread;
}

// Returns true if the stream is capturing. Drivers invalidate a capture when the host waits for its
// stream, so callers check first and fail with kCaptureUnsupported. The default stream never
// captures.
template <class Driver>
bool captures(Driver& driver, typename Driver::Stream stream) {
  int status = 0;
  return stream != nullptr && driver.capture_status.available() &&
         driver.capture_status(stream, &status) == 0 && status != 0;
}

// The remedy for a capture error, as the end of a sentence; empty for other errors.
constexpr const char* capture_remedy(int code) {
  return code == kCaptureUnsupported ? "; an operation that waits for the device cannot be "
                                       "captured in a graph: call it before or after "
                                       "the capture"
                                     : "";
}

DL_KIT_END

#endif  // DL_KIT_CAPTURES_H_
