// The CPU's view of a call's dl tensors, and the way back.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <utility>

#include "runtime/device.h"

namespace dl::core {

enum class Twins {
  alias,  // the memory itself, which has to be host-accessible
  copy,   // copied to the host and back
  blank,  // zeros, for a call whose results nobody sees
};

// Every distinct dl storage among the arguments gets one *twin*: a CPU storage over the same bytes
// (aliased) or over a copy of them (staged). Tensors that share a storage share its twin, so
// aliasing between arguments holds. After the call, resizes and replaced storages are carried back,
// outputs that view a twin become views of the original, and new CPU tensors become dl tensors.
class HostArguments {
 public:
  HostArguments(int device, Twins twins, bool whole_storage)
      : device_(device), kind_(twins), whole_storage_(whole_storage) {}
  ~HostArguments();
  HostArguments(const HostArguments&) = delete;
  HostArguments& operator=(const HostArguments&) = delete;

  // First pass, where twins are memory of their own: which part of each storage is needed.
  void survey(const at::Tensor& tensor);
  // A CPU input's storage must not be adopted should an output view it.
  void note_cpu_input(const at::Tensor& tensor);
  // Waits until the host may read, and copies what staging needs.
  void begin();
  // The CPU tensor that stands for `tensor`.
  at::Tensor to_host(const at::Tensor& tensor, bool written);
  // After the call: carries storage changes and staged writes back.
  void finish();
  // The dl tensors, in a word each: Float[2, 3].
  std::string describe() const;
  // An output as the caller shall see it.
  at::Tensor to_device(const at::Tensor& output);

 private:
  struct Twin {
    c10::Storage original;
    c10::Storage host;
    void* data = nullptr;  // of the twin before the call
    size_t bytes = 0;
    size_t first = 0;  // of memory of its own: the part [first, last) of the original
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
  // Aliased memory that lazy copies share becomes the original's own.
  void mark_written(Twin& twin);
  void make_staged(Twin& twin);
  void carry_resize(Twin& twin);
  void carry_geometry(const Argument& argument);
  // The twin that `host` belongs to, or NULL.
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
