#ifndef DL_ASYNC_TEST_OPS_LAUNCH_H_
#define DL_ASYNC_TEST_OPS_LAUNCH_H_

#include <functional>
#include <memory>

#include "diopi/diopirt.h"
#include "dl/context.h"
#include "instance.h"
#include "ops/tensor_view.h"

namespace dl::async_test {

/** One call of an operator: its stream and its arguments. Throws Error for invalid handles. */
class Launch {
 public:
  /** `name` must outlive the call. */
  Launch(diopiContextHandle_t ctx, const char* name);

  TensorView view(diopiConstTensorHandle_t handle) const;

  /** `body` must own everything it uses: it runs after the operator has returned. */
  void enqueue(std::function<void()> body) const;
  /** Run `body` in stream order and wait for it, for operators with data-dependent output sizes. */
  void run(std::function<void()> body) const;
  /** Return the error word of the stream, readable and writable by its work; NULL if the host has
   * none. */
  dl_device_error_t* error_word() const;
  /** Request a contiguous device tensor from the host. Throws Error if the host cannot provide one.
   */
  diopiTensorHandle_t require(const std::vector<int64_t>& sizes, int32_t dtype) const;

 private:
  /** Overwrite the padding behind a tensor's storage. Throws Error if its block has none. */
  void overwrite_padding(const dl_tensor_prefix_t& tensor, const DeviceMemory& memory) const;

  const dl_context_prefix_t& context() const { return *diopirt_context(ctx_); }

  diopiContextHandle_t ctx_;
  const char* name_;
  Instance* instance_;
  Device* device_;
  std::shared_ptr<Stream> stream_;
};

}  // namespace dl::async_test

#endif
