// What CUPTI records, for the whole process: it has one client, and no notion of an instance.
#ifndef DL_CUDA_EXTENSIONS_RECORDER_H_
#define DL_CUDA_EXTENSIONS_RECORDER_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "extensions/cupti_api.h"
#include "runtime/driver.h"

namespace dl::cuda {

// One thing that a card did, as far as CUPTI's records say.
struct Recorded {
  std::string name;
  uint32_t kind;  // dl_activity_kind_t
  uint32_t stream;
  uint32_t launch;       // that enqueued it, in CUPTI's numbers
  uint64_t correlation;  // of `correlate`; 0: none
  int64_t start, end;    // nanoseconds
  uint64_t bytes;
};

class Recorder {
 public:
  static Recorder& here();

  // Of one card, by the driver's number. Throws kit::Error.
  void start(driver::Device device);
  // What was enqueued before has to have finished.
  void stop(driver::Device device);
  // By their start; `dropped` is how many had no room since the last call.
  std::vector<Recorded> collect(driver::Device device, uint64_t* dropped);

  int64_t now();
  // CUPTI's number of a stream of the context; 0: it has none.
  uint32_t stream_id(driver::Context context, driver::Stream stream);
  // For this thread; returns the number until now.
  uint64_t correlate(uint64_t correlation);
  bool records(driver::Device device);

 private:
  static void requested(uint8_t** buffer, size_t* size, size_t* most_records);
  static void completed(driver::Context, uint32_t, uint8_t* buffer, size_t size, size_t valid);

  void check(int result, const char* operation);
  void take(const cupti::Record& record);

  cupti::Library cupti_;
  std::mutex calls_;  // of start and stop
  bool registered_ = false;
  std::mutex mutex_;  // of what follows
  std::set<driver::Device> active_;
  std::map<driver::Device, std::vector<Recorded>> found_;
  std::unordered_map<uint32_t, uint64_t> correlations_;  // by launch
  uint64_t dropped_ = 0;
};

}  // namespace dl::cuda

#endif  // DL_CUDA_EXTENSIONS_RECORDER_H_
