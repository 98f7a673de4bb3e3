// oneDNN, loaded on first use if the environment has it, and its operations.
#ifndef DL_CPU_LIBRARY_ONEDNN_H_
#define DL_CPU_LIBRARY_ONEDNN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "dl_kernels/library.h"
#include "dl_kernels/parallel/launch.h"
#include "library/constants.h"
#include "library/onednn_api.h"

namespace dl::cpu::onednn {

struct Runtime {
  Api api;
  Engine* engine = nullptr;
  // Functions of the OpenMP library that oneDNN uses, which under torch is torch's own.
  void (*set_threads)(int) = nullptr;
  int (*threads)() = nullptr;
};

// Null if oneDNN is missing, or DL_CPU_ONEDNN is "off".
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

// kUndefined for dtypes that oneDNN does not support.
DataType data_type(diopiDtype_t dtype);
MemoryDescOwner describe(DataType type, int ndim, const int64_t* sizes, const int64_t* strides);
// Describe a tensor whose layout oneDNN chooses (format tag any).
MemoryDescOwner describe_any(DataType type, int ndim, const int64_t* sizes);
AttributesOwner default_attributes();

// Everything that determines an operation.
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

// A tensor of an operation in the caller's layout.
struct Port {
  Argument argument;
  Query query;
  MemoryDescOwner given;
};

// A primitive with reorders around it: operands whose layout differs from the primitive's are
// copied.
class Operation {
 public:
  // Null if oneDNN has only its slow reference code for this operation.
  static std::unique_ptr<Operation> make(PrimitiveDescOwner description, std::vector<Port> ports);

  // `data` in the order of the ports. False if nothing was computed.
  bool run(const kernels::Launch& launch, Stream* stream, void* const* data) const;

 private:
  struct Operand {
    Argument argument;
    MemoryOwner given, wanted;  // `wanted` is null if the given layout is used
    PrimitiveOwner convert;
    bool written;
    size_t offset, bytes;  // in the scratch memory
    constants::Packing packing;
  };

  bool convert(const Operand& operand, Stream* stream) const;

  PrimitiveOwner primitive_;
  MemoryOwner scratchpad_;
  std::vector<Operand> operands_;
  size_t scratch_bytes_ = 0;
};

// Run the operation of `key` on the calling thread, with as many threads as the host would use;
// `make` creates it the first time. False if oneDNN declines.
bool run_cached(const kernels::Launch& launch, const Key& key,
                const std::function<std::unique_ptr<Operation>()>& make, void* const* data);

}  // namespace dl::cpu::onednn

#endif  // DL_CPU_LIBRARY_ONEDNN_H_
