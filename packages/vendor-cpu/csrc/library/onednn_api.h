// The part of oneDNN's C API, version 3, that this library uses: our own declarations, bound by
// name when the library is loaded, from oneDNN's documentation.
#ifndef DL_CPU_LIBRARY_ONEDNN_API_H_
#define DL_CPU_LIBRARY_ONEDNN_API_H_

#include <cstddef>
#include <cstdint>

namespace dl::cpu::onednn {

struct Engine;
struct Stream;
struct MemoryDesc;
struct Memory;
struct Attributes;
struct PostOps;
struct PrimitiveDesc;
struct Primitive;

inline constexpr int kMaxDims = 12;
using Dims = int64_t[kMaxDims];

enum Status : int { kSuccess = 0 };
enum DataType : int { kUndefined = 0, kFloat16 = 1, kBFloat16 = 2, kFloat32 = 3 };
enum EngineKind : int { kCpu = 1 };
enum StreamFlags : unsigned { kInOrder = 1 };
enum FormatTag : int { kAny = 1 };
enum PropKind : int { kForwardTraining = 64 };
enum Algorithm : int { kConvolutionDirect = 1, kLinear = 38 };
enum ScratchpadMode : int { kUserScratchpad = 1 };
enum Query : int {
  kImplementation = 8,
  kStrides = 14,
  kSourceDesc = 129,
  kDiffSourceDesc = 130,
  kWeightsDesc = 131,
  kDiffWeightsDesc = 132,
  kDestinationDesc = 133,
  kDiffDestinationDesc = 134,
  kScratchpadDesc = 136,
  kInnerBlocks = 263,
};
enum Argument : int {
  kSource = 1,
  kDestination = 17,
  kWeights = 33,
  kBias = 41,
  kScratchpad = 80,
  kDiffSource = 129,
  kDiffDestination = 145,
  kDiffWeights = 161,
  kDiffBias = 169,
};

struct Version {
  int major, minor, patch;
  const char* hash;
  unsigned cpu_runtime, gpu_runtime;
};
inline constexpr unsigned kOpenMp = 2;  // a value of cpu_runtime

struct ExecArgument {
  int argument;
  Memory* memory;
};

// X(name without the prefix dnnl_, result, parameters)
// clang-format off
#define DL_ONEDNN_FUNCTIONS(X)                                                                    \
  X(version, const Version*, ())                                                                  \
  X(engine_create, Status, (Engine**, EngineKind, size_t))                                        \
  X(stream_create, Status, (Stream**, Engine*, unsigned))                                         \
  X(stream_destroy, Status, (Stream*))                                                            \
  X(memory_desc_create_with_strides, Status,                                                      \
    (MemoryDesc**, int, const int64_t*, DataType, const int64_t*))                                \
  X(memory_desc_create_with_tag, Status, (MemoryDesc**, int, const int64_t*, DataType, FormatTag))\
  X(memory_desc_clone, Status, (MemoryDesc**, const MemoryDesc*))                                 \
  X(memory_desc_destroy, Status, (MemoryDesc*))                                                   \
  X(memory_desc_query, Status, (const MemoryDesc*, Query, void*))                                 \
  X(memory_desc_equal, int, (const MemoryDesc*, const MemoryDesc*))                               \
  X(memory_desc_get_size, size_t, (const MemoryDesc*))                                            \
  X(memory_create, Status, (Memory**, const MemoryDesc*, Engine*, void*))                         \
  X(memory_set_data_handle, Status, (Memory*, void*))                                             \
  X(memory_destroy, Status, (Memory*))                                                            \
  X(primitive_attr_create, Status, (Attributes**))                                                \
  X(primitive_attr_destroy, Status, (Attributes*))                                                \
  X(primitive_attr_set_scratchpad_mode, Status, (Attributes*, ScratchpadMode))                    \
  X(primitive_attr_set_post_ops, Status, (Attributes*, const PostOps*))                           \
  X(post_ops_create, Status, (PostOps**))                                                         \
  X(post_ops_destroy, Status, (PostOps*))                                                         \
  X(post_ops_append_sum, Status, (PostOps*, float, int32_t, DataType))                            \
  X(post_ops_append_eltwise, Status, (PostOps*, Algorithm, float, float))                         \
  X(primitive_desc_destroy, Status, (PrimitiveDesc*))                                             \
  X(primitive_desc_query, Status, (const PrimitiveDesc*, Query, int, void*))                      \
  X(primitive_desc_query_md, const MemoryDesc*, (const PrimitiveDesc*, Query, int))               \
  X(primitive_create, Status, (Primitive**, const PrimitiveDesc*))                                \
  X(primitive_destroy, Status, (Primitive*))                                                      \
  X(primitive_execute, Status, (const Primitive*, Stream*, int, const ExecArgument*))             \
  X(reorder_primitive_desc_create, Status,                                                        \
    (PrimitiveDesc**, const MemoryDesc*, Engine*, const MemoryDesc*, Engine*, const Attributes*)) \
  X(matmul_primitive_desc_create, Status,                                                         \
    (PrimitiveDesc**, Engine*, const MemoryDesc*, const MemoryDesc*, const MemoryDesc*,           \
     const MemoryDesc*, const Attributes*))                                                       \
  X(convolution_forward_primitive_desc_create, Status,                                            \
    (PrimitiveDesc**, Engine*, PropKind, Algorithm, const MemoryDesc*, const MemoryDesc*,         \
     const MemoryDesc*, const MemoryDesc*, const int64_t*, const int64_t*, const int64_t*,        \
     const int64_t*, const Attributes*))                                                          \
  X(convolution_backward_data_primitive_desc_create, Status,                                      \
    (PrimitiveDesc**, Engine*, Algorithm, const MemoryDesc*, const MemoryDesc*,                   \
     const MemoryDesc*, const int64_t*, const int64_t*, const int64_t*, const int64_t*,           \
     const PrimitiveDesc*, const Attributes*))                                                    \
  X(convolution_backward_weights_primitive_desc_create, Status,                                   \
    (PrimitiveDesc**, Engine*, Algorithm, const MemoryDesc*, const MemoryDesc*,                   \
     const MemoryDesc*, const MemoryDesc*, const int64_t*, const int64_t*, const int64_t*,        \
     const int64_t*, const PrimitiveDesc*, const Attributes*))
// clang-format on

struct Api {
#define DL_ONEDNN_MEMBER(name, result, parameters) result(*name) parameters = nullptr;
  DL_ONEDNN_FUNCTIONS(DL_ONEDNN_MEMBER)
#undef DL_ONEDNN_MEMBER
};

}  // namespace dl::cpu::onednn

#endif  // DL_CPU_LIBRARY_ONEDNN_API_H_
