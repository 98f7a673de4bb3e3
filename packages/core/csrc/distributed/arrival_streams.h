// Streams on which results of collectives arrive.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <vector>

namespace dl::core::distributed {

// RAII guard that makes the arrival streams current.
class ArrivalStreams {
 public:
  explicit ArrivalStreams(const std::vector<c10::Device>& devices);
  ~ArrivalStreams();
  ArrivalStreams(const ArrivalStreams&) = delete;
  ArrivalStreams& operator=(const ArrivalStreams&) = delete;

 private:
  std::vector<c10::Stream> previous_;
};

}  // namespace dl::core::distributed
