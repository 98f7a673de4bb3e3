// Streams reserved for internal use: their work does not wait for the program's work.
#pragma once

#include <c10/core/Stream.h>

namespace dl::core {

// Returns a new stream that torch.Stream() never returns. Keep it: a device has at most 31 of them.
c10::Stream reserved_stream(int device, int priority);

}  // namespace dl::core
