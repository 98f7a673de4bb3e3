// Scratch memory for one call, allocated by the host: the host's caching, and its retry with an
// emptied cache when memory is short, then apply to workspaces too.
#ifndef DL_KIT_WORKSPACE_H_
#define DL_KIT_WORKSPACE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "diopi/diopirt.h"
#include "dl/kit/base.h"
#include "dl/kit/layout.h"
#include "dl/kit/lru.h"
#include "dl/kit/status.h"

DL_KIT_BEGIN

// Returns `bytes` of device memory, or of page-locked host memory, valid until the operator
// returns; the host reuses it in stream order only. For 0 bytes, nothing is allocated. Throws Error
// without memory: the host knows the cause and raises it.
inline void* workspace(diopiContextHandle_t ctx, uint64_t bytes,
                       diopiDevice_t where = diopi_device) {
  if (bytes == 0) return nullptr;
  diopiTensorHandle_t buffer = nullptr;
  void* data = nullptr;
  if (bytes > uint64_t{INT64_MAX} ||
      diopiRequireBuffer(ctx, &buffer, static_cast<int64_t>(bytes), where) != diopiSuccess ||
      diopiGetTensorData(buffer, &data) != diopiSuccess)
    throw Error(DL_OUT_OF_MEMORY,
                "the host has no workspace of " + std::to_string(bytes) + " bytes",
                "diopiRequireBuffer");
  return data;
}

// Cache of the workspace sizes of one kind of call, which libraries compute slowly: queried once
// per layout.
class WorkspaceSizes {
 public:
  explicit WorkspaceSizes(size_t capacity) : sizes_(capacity) {}

  template <class Ask>
  uint64_t get(const Layout& call, const Ask& ask) {
    return *sizes_.get(call, [&] { return static_cast<uint64_t>(ask()); });
  }
  uint64_t asked() const { return sizes_.made(); }

 private:
  Lru<Layout, uint64_t, LayoutHash> sizes_;
};

DL_KIT_END

#endif  // DL_KIT_WORKSPACE_H_
