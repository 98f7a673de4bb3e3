// oneDNN, loaded on first use where the environment has it, and operations made with it.
#ifndef DL_CPU_LIBRARY_ONEDNN_H_
#define DL_CPU_LIBRARY_ONEDNN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "dl_kernels/library.h"
#include "dl_kernels/parallel/launch.h"
#include "library/onednn_api.h"

namespace dl::cpu::onednn {

struct Runtime {
  Api api;
  Engine* engine = nullptr;
  // Of the OpenMP library that oneDNN runs on, which is torch's own under torch.
  void (*set_threads)(int) = nullptr;
  int (*threads)() = nullptr;
};

// Null where there is no oneDNN, or DL_CPU_ONEDNN is "off".
const Runtime* runtime();

// Owners of oneDNN's objects.
#define DL_ONEDNN_OWNER(Type, destroy)                                      \
  struct Type##Deleter {                                                    \
    void operator()(Type* object) const { runtime()->api.destroy(object); } \
  };                                                                        \
  using Type##Owner = std::unique_ptr<Type, Type##Deleter>;
DL_ONEDNN_OWNER(MemoryDesc, memory_desc_destroy)
DL_ONEDNN_OWNER(Memory, memory_destroy)
DL_ONEDNN_OWNER(Attributes, primitive_attr_destroy)
DL_ONEDNN_OWNER(PostOps, post_ops_destroy)
DL_ONEDNN_OWNER(PrimitiveDesc, primitive_desc_destroy)
DL_ONEDNN_OWNER(Primitive, primitive_destroy)
DL_ONEDNN_OWNER(Stream, stream_destroy)
#undef DL_ONEDNN_OWNER

// kUndefined for what oneDNN does not compute in.
DataType data_type(diopiDtype_t dtype);
MemoryDescOwner describe(DataType type, int ndim, const int64_t* sizes, const int64_t* strides);
// Whichever layout the operation is fastest in.
MemoryDescOwner describe_any(DataType type, int ndim, const int64_t* sizes);
AttributesOwner default_attributes();

// What an operation was made for.
class Key {
 public:
  void add(int64_t value) {
    if (count_ < kCapacity) values_[count_] = value;
    ++count_;
  }
  bool complete() const { return count_ <= kCapacity; }
  bool operator==(const Key& other) const;
  uint64_t hash() const;

 private:
  static constexpr int kCapacity = 64;
  int count_ = 0;
  int64_t values_[kCapacity];
};

// A tensor of an operation as the caller has it.
struct Port {
  Argument argument;
  Query query;
  MemoryDescOwner given;
};

// A primitive with what it needs around it: where the caller's layout is not the one the primitive
// wants, its operands pass through a copy.
class Operation {
 public:
  // Null when oneDNN has only its slow reference code for this operation.
  static std::unique_ptr<Operation> make(PrimitiveDescOwner description, std::vector<Port> ports);

  // `data` in the order of the ports, `key` what the operation was made for. False when nothing was
  // computed.
  bool run(const kernels::Launch& launch, Stream* stream, const Key& key, void* const* data) const;

 private:
  struct Operand {
    Argument argument;
    MemoryOwner given, wanted;  // `wanted` is null where the given layout serves
    PrimitiveOwner convert;
    bool written;
    size_t offset, bytes;  // of `wanted` in the scratch memory
  };

  bool convert(const Operand& operand, Stream* stream) const;

  PrimitiveOwner primitive_;
  MemoryOwner scratchpad_;
  std::vector<Operand> operands_;
  size_t scratch_bytes_ = 0;
};

// Runs the operation of `key` on the calling thread's behalf, with as many threads as the host
// would use; `make` is called the first time. False when oneDNN declines.
bool run_cached(const kernels::Launch& launch, const Key& key,
                const std::function<std::unique_ptr<Operation>()>& make, void* const* data);

}  // namespace dl::cpu::onednn

#endif  // DL_CPU_LIBRARY_ONEDNN_H_
