// Captures, as far as the driver's calls differ from those that dl/kit/graph.h wants.
#include "runtime/api.h"

namespace dl::cuda {

Api::Result Api::capture_status(Stream stream, bool* capturing) {
  int status = 0;
  const Result result = the_driver().capture_status(stream, &status);
  // A capture that was made invalid goes on until its end.
  *capturing = status != 0;
  return result;
}

}  // namespace dl::cuda
