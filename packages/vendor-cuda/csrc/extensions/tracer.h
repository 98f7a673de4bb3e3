// CUPTI as a tracer for dl/kit/recorder.h.
#ifndef DL_CUDA_EXTENSIONS_TRACER_H_
#define DL_CUDA_EXTENSIONS_TRACER_H_

#include <cstdint>

#include "dl/kit/recorder.h"
#include "extensions/cupti_api.h"
#include "runtime/driver.h"

namespace dl::cuda {

class Tracer {
 public:
  explicit Tracer(kit::Recorder<Tracer>& recorder) : recorder_(recorder) {}

  void enable();
  void disable();
  void flush(bool whole);
  int64_t now();
  void push(uint64_t correlation);
  void pop();

  // CUPTI's number of a stream of the context; 0 if it has none.
  uint32_t stream_id(driver::Context context, driver::Stream stream);

 private:
  static void requested(uint8_t** buffer, size_t* size, size_t* most_records);
  static void completed(driver::Context, uint32_t, uint8_t* buffer, size_t size, size_t valid);

  void check(int result, const char* operation);
  void take(const cupti::Record& record);

  kit::Recorder<Tracer>& recorder_;
  cupti::Library cupti_;
  // set by the first call of `enable`, which is never called concurrently
  bool registered_ = false;
};

using Recorder = kit::Recorder<Tracer>;

}  // namespace dl::cuda

#endif  // DL_CUDA_EXTENSIONS_TRACER_H_
