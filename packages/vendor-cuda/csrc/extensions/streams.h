// The streams of an instance by CUPTI's stream numbers, for the profiler.
#ifndef DL_CUDA_EXTENSIONS_STREAMS_H_
#define DL_CUDA_EXTENSIONS_STREAMS_H_

#include <cstdint>
#include <map>
#include <mutex>

namespace dl::cuda {

class Streams {
 public:
  void add(void* stream, int32_t device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    live_[stream] = device;
  }
  // Call this before destroying the stream: it may have records that are not collected yet.
  void remove(void* stream, int32_t device);

  // Streams by CUPTI's numbers; the default stream is NULL.
  std::map<uint32_t, void*> by_id(int32_t device);

 private:
  std::mutex mutex_;
  std::map<void*, int32_t> live_;
  // destroyed streams that were recorded, by device
  std::map<int32_t, std::map<uint32_t, void*>> gone_;
};

}  // namespace dl::cuda

#endif  // DL_CUDA_EXTENSIONS_STREAMS_H_
