// The streams on which results arrive.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <vector>

namespace dl::core::distributed {

// Makes the streams current on which results arrive, for as long as it lives.
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
