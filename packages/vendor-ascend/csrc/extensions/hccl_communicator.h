// One HCCL communicator. Its creation blocks until all ranks have joined, so another thread waits.
#ifndef DL_ASCEND_EXTENSIONS_HCCL_COMMUNICATOR_H_
#define DL_ASCEND_EXTENSIONS_HCCL_COMMUNICATOR_H_

#include <cstdint>
#include <mutex>

#include "dl/kit/status.h"
#include "extensions/hccl_api.h"

namespace dl::ascend {

class HcclCommunicator {
 public:
  const int32_t device, ranks, rank;

  // Waits for all ranks, for at most `seconds` if that is positive. Throws Error.
  HcclCommunicator(hccl::Library& library, const hccl::RootInfo& root, int32_t its_device,
                   int32_t its_ranks, int32_t its_rank, double seconds);
  ~HcclCommunicator();
  HcclCommunicator(const HcclCommunicator&) = delete;
  HcclCommunicator& operator=(const HcclCommunicator&) = delete;

  // Rejects later calls, and suspends the communicator if the library supports that.
  void abort();
  bool aborted();
  // Throws the first error of the enqueued work.
  void check();

  // Runs `enqueue(handle)`, which returns a status of HCCL.
  template <class Enqueue>
  void call(const char* operation, const Enqueue& enqueue) {
    const std::lock_guard<std::mutex> lock(mutex_);
    check_usable();
    if (const int status = enqueue(handle_)) throw error_of(library_, status, operation);
  }

  // Returns an error with HCCL's name of the status and the runtime's text, which it takes.
  static kit::Error error_of(hccl::Library& library, int status, const char* operation);

 private:
  void check_usable() const;

  hccl::Library& library_;
  std::mutex mutex_;
  hccl::Communicator handle_ = nullptr;
  bool aborted_ = false;
};

}  // namespace dl::ascend

#endif  // DL_ASCEND_EXTENSIONS_HCCL_COMMUNICATOR_H_
