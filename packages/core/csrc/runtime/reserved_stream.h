// Streams reserved for internal use, whose work does not wait for that of the program.
#pragma once

#include <c10/core/Stream.h>

namespace dl::core {

// Returns a new stream that torch.Stream() never returns. Callers keep it: a device has at most 31.
c10::Stream reserved_stream(int device, int priority);

}  // namespace dl::core
