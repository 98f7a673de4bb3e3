// Streams that no program gets: work on them waits for nothing of the program's.
#pragma once

#include <c10/core/Stream.h>

namespace dl::core {

// A new stream apart from those of torch.Stream(). Callers keep it: a device has room for 31.
c10::Stream reserved_stream(int device, int priority);

}  // namespace dl::core
