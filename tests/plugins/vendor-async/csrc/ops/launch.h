#ifndef DL_ASYNC_TEST_OPS_LAUNCH_H_
#define DL_ASYNC_TEST_OPS_LAUNCH_H_

#include <functional>
#include <memory>

#include "diopi/diopirt.h"
#include "dl/context.h"
#include "instance.h"
#include "ops/tensor_view.h"

namespace dl::async_test {

/** One call of an operator: where it runs and what it sees. Throws Error for handles that cannot be
 * used. */
class Launch {
 public:
  /** `name` must outlive the call. */
  Launch(diopiContextHandle_t ctx, const char* name);

  TensorView view(diopiConstTensorHandle_t handle) const;

  /** `body` must own all that it uses: it runs after the operator has returned. */
  void enqueue(std::function<void()> body) const;
  /** Runs `body` in stream order and waits for it. For operators whose output size is data. */
  void run(std::function<void()> body) const;
  /** The error word of the stream, readable and writable by its work; NULL: the host has none. */
  dl_device_error_t* error_word() const;
  /** A contiguous device tensor of the host's. Throws Error when the host cannot give one. */
  diopiTensorHandle_t require(const std::vector<int64_t>& sizes, int32_t dtype) const;

 private:
  const dl_context_prefix_t& context() const { return *diopirt_context(ctx_); }

  diopiContextHandle_t ctx_;
  const char* name_;
  Instance* instance_;
  Device* device_;
  std::shared_ptr<Stream> stream_;
};

}  // namespace dl::async_test

#endif
