// Captures of streams, as streams.cpp sees them; the rest is private to graphs.cpp.
#ifndef FAKE_ACL_CAPTURES_H_
#define FAKE_ACL_CAPTURES_H_

#include "fake_acl.h"

#pragma GCC visibility push(hidden)

namespace fake {

// Adds the work as the next node if the stream is capturing; returns false if it is not.
bool add_node(StreamObject& stream, Work& work);
// Called when a stream is destroyed: removes an origin's capture, or marks a joined stream as
// missing.
void leave_capture(StreamObject& stream);
// Returns false if neither captures. A stream that waits for an event of a capture joins it.
bool wait_in_capture(StreamObject& stream, EventObject& event, Code* result);
bool record_in_capture(StreamObject& stream, EventObject& event);

}  // namespace fake

#pragma GCC visibility pop

#endif  // FAKE_ACL_CAPTURES_H_
