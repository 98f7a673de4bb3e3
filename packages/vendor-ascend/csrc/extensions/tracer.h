// MSPTI as a tracer for dl/kit/recorder.h.
#ifndef DL_ASCEND_EXTENSIONS_TRACER_H_
#define DL_ASCEND_EXTENSIONS_TRACER_H_

#include <cstdint>

#include "dl/kit/recorder.h"
#include "extensions/mspti_api.h"

namespace dl::ascend {

class Tracer {
 public:
  explicit Tracer(kit::Recorder<Tracer>& recorder) : recorder_(recorder) {}

  void enable();
  void disable();
  // MSPTI always flushes everything.
  void flush(bool whole);
  int64_t now();
  void push(uint64_t correlation);
  void pop();

 private:
  static void requested(uint8_t** buffer, size_t* size, size_t* most_records);
  static void completed(uint8_t* buffer, size_t size, size_t valid);

  void check(int result, const char* operation);
  void take(const mspti::Record& record);

  kit::Recorder<Tracer>& recorder_;
  mspti::Library mspti_;
  // set by the first call of `enable`, which is never called concurrently
  mspti::Subscriber subscriber_ = nullptr;
  bool registered_ = false;
};

using Recorder = kit::Recorder<Tracer>;

}  // namespace dl::ascend

#endif  // DL_ASCEND_EXTENSIONS_TRACER_H_
