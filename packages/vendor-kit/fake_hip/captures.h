// Captures of streams, as streams and events meet them. The rest is graphs.cpp's own.
#ifndef FAKE_HIP_CAPTURES_H_
#define FAKE_HIP_CAPTURES_H_

#include <functional>

#include "fake_hip.h"

#pragma GCC visibility push(hidden)

namespace fake {

// Takes the work as the next node where the stream captures; false where it runs.
bool add_node(StreamObject& stream, std::function<void()>& work);
// A stream that is destroyed takes its capture with it, or is missed at its end.
void leave_capture(StreamObject& stream);
// False: none of it captures. A stream that waits for an event of a capture becomes part of it.
bool wait_in_capture(StreamObject& stream, EventObject& event, Code* result);
bool record_in_capture(StreamObject& stream, EventObject& event);

}  // namespace fake

#pragma GCC visibility pop

#endif  // FAKE_HIP_CAPTURES_H_
