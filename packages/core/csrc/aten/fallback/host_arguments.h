// CPU counterparts of a call's dl tensors, and the conversion of results back.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <utility>

#include "runtime/device.h"

namespace dl::core {

enum class Twins {
  alias,  // the device memory itself, which must be host-accessible
  copy,   // copied to the host and back
  blank,  // zeros, for a call whose results are discarded
};

// Every distinct dl storage among the arguments gets one *twin*: a CPU storage over the same bytes
// (aliased) or over a copy of them (staged). Tensors that share a storage share its twin, which
// preserves aliasing between arguments. After the call, resizes and replaced storages are carried
// back, outputs that are views of a twin become views of the original, and new CPU tensors become
// dl tensors.
class HostArguments {
 public:
  HostArguments(int device, Twins twins, bool whole_storage)
      : device_(device), kind_(twins), whole_storage_(whole_storage) {}
  ~HostArguments();
  HostArguments(const HostArguments&) = delete;
  HostArguments& operator=(const HostArguments&) = delete;

  // First pass, for twins with their own memory: determines the part of each storage that is
  // needed.
  void survey(const at::Tensor& tensor);
  // Records a CPU input, whose storage must not be adopted if an output is a view of it.
  void note_cpu_input(const at::Tensor& tensor);
  // Waits until the host may read the memory, and copies staged tensors.
  void begin();
  // Returns the CPU counterpart of `tensor`.
  at::Tensor to_host(const at::Tensor& tensor, bool written);
  // After the call: carries storage changes and staged writes back.
  void finish();
  // Short descriptions of the dl tensors: Float[2, 3].
  std::string describe() const;
  // Converts an output for the caller.
  at::Tensor to_device(const at::Tensor& output);

 private:
  struct Twin {
    c10::Storage original;
    c10::Storage host;
    void* data = nullptr;  // of the twin, before the call
    size_t bytes = 0;
    size_t first = 0;  // for a copy: the range [first, last) of the original, in bytes
    size_t last = 0;
    bool written = false;
  };
  struct Argument {
    at::Tensor original;
    at::Tensor host;
    size_t twin;
    bool pooled;
  };

  size_t twin_of(const at::Tensor& tensor);
  // Gives the original its own memory if lazy copies share it.
  void mark_written(Twin& twin);
  void make_staged(Twin& twin);
  void carry_resize(Twin& twin);
  void carry_geometry(const Argument& argument);
  // Returns the twin of the storage `host`, or NULL.
  const Twin* find_twin(const c10::StorageImpl* host) const;
  c10::Storage to_device_storage(const c10::Storage& host);

  int device_;
  Twins kind_;
  bool whole_storage_;
  c10::SmallVector<Twin, 4> twins_;
  c10::SmallVector<Argument, 6> arguments_;
  c10::SmallVector<c10::StorageImpl*, 2> cpu_inputs_;
  c10::SmallVector<std::pair<c10::Storage, c10::Storage>, 2> copied_;  // host storage → its copy
};

}  // namespace dl::core
