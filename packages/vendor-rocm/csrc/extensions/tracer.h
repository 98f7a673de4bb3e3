// ROCTracer as a tracer for dl/kit/recorder.h.
#ifndef DL_ROCM_EXTENSIONS_TRACER_H_
#define DL_ROCM_EXTENSIONS_TRACER_H_

#include <cstdint>

#include "dl/kit/recorder.h"
#include "extensions/roctracer_api.h"

namespace dl::rocm {

class Tracer {
 public:
  explicit Tracer(kit::Recorder<Tracer>& recorder) : recorder_(recorder) {}

  void enable();
  void disable();
  // ROCTracer always flushes everything.
  void flush(bool whole);
  int64_t now();
  void push(uint64_t correlation);
  void pop();

 private:
  static void completed(const char* begin, const char* end, void* self);

  void check(int result, const char* operation);
  void take(const roctracer::Record& record);

  kit::Recorder<Tracer>& recorder_;
  roctracer::Library roctracer_;
  // opened by the first call of `enable`, which is never called concurrently
  void* pool_ = nullptr;
};

using Recorder = kit::Recorder<Tracer>;

}  // namespace dl::rocm

#endif  // DL_ROCM_EXTENSIONS_TRACER_H_
