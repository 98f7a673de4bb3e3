// What CUDA's driver and HIP number alike of captures: how they begin, and what they do not allow.
#ifndef DL_KIT_CAPTURES_H_
#define DL_KIT_CAPTURES_H_

#include "dl/kit/base.h"

DL_KIT_BEGIN

// The mode that restricts no other call.
constexpr int kCaptureRelaxed = 2;

// Of CUresult and hipError_t.
enum : int { kCaptureUnsupported = 900, kCaptureWrongThread = 908 };

// Whether it is about what a stream that captures, or an event of one, cannot do.
constexpr bool is_capture_error(int code) {
  return code >= kCaptureUnsupported && code <= kCaptureWrongThread;
}

// Whether a stream does. Drivers end a capture whose stream is waited for, so that who waits asks
// first, and fails with kCaptureUnsupported. The default stream never does.
template <class Driver>
bool captures(Driver& driver, typename Driver::Stream stream) {
  int status = 0;
  return stream != nullptr && driver.capture_status.available() &&
         driver.capture_status(stream, &status) == 0 && status != 0;
}

// What can be done about it, as the end of a sentence; empty where nobody knows.
constexpr const char* capture_way_out(int code) {
  return code == kCaptureUnsupported
             ? "; what waits for the device cannot be captured in a graph: call it before or after "
               "the capture"
             : "";
}

DL_KIT_END

#endif  // DL_KIT_CAPTURES_H_
