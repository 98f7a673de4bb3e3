// Scratch memory of a call on a GPU, allocated by the host and freed with the context.
#ifndef DL_KERNELS_GPU_SCRATCH_H_
#define DL_KERNELS_GPU_SCRATCH_H_

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "diopi/diopirt.h"
#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

namespace gpu {

// Freed blocks are reused for requests of the same size, so that loops allocate once: the work of a
// stream runs in order.
class Scratch {
 public:
  explicit Scratch(diopiContextHandle_t ctx) : ctx_(ctx) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // Throws std::runtime_error if the host cannot allocate.
  void* take(int64_t bytes) {
    for (Buffer& buffer : buffers_) {
      if (buffer.is_free && buffer.bytes == bytes) {
        buffer.is_free = false;
        return buffer.data;
      }
    }
    buffers_.push_back({nullptr, bytes, false});
    diopiTensorHandle_t tensor{};
    if (diopiRequireBuffer(ctx_, &tensor, bytes, diopi_device) != diopiSuccess ||
        diopiGetTensorData(tensor, &buffers_.back().data) != diopiSuccess) {
      throw std::runtime_error("the host did not allocate " + std::to_string(bytes) +
                               " bytes of scratch memory");
    }
    return buffers_.back().data;
  }

  void give_back(const void* data) {
    for (Buffer& buffer : buffers_) buffer.is_free |= buffer.data == data;
  }

 private:
  struct Buffer {
    void* data;
    int64_t bytes;
    bool is_free;
  };
  diopiContextHandle_t ctx_;
  std::vector<Buffer> buffers_;
};

}  // namespace gpu

DL_KERNELS_END

#endif  // DL_KERNELS_GPU_SCRATCH_H_
