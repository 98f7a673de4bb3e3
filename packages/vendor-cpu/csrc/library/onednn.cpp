#include "library/onednn.h"

#include <dlfcn.h>

#include "library/find.h"
#include "library/libraries.h"

namespace dl::cpu::onednn {
namespace {

std::unique_ptr<Runtime> load() {
  void* library = open_library("DL_CPU_ONEDNN", {"", "lib/libdnnl.so.3"}, "libdnnl.so.3");
  if (library == nullptr) return nullptr;
  auto created = std::make_unique<Runtime>();
#define DL_ONEDNN_BIND(name, result, parameters)                                             \
  created->api.name = reinterpret_cast<result(*) parameters>(dlsym(library, "dnnl_" #name)); \
  if (created->api.name == nullptr) return nullptr;
  DL_ONEDNN_FUNCTIONS(DL_ONEDNN_BIND)
#undef DL_ONEDNN_BIND
  const Version* version = created->api.version();
  if (version->major != 3 || version->cpu_runtime != kOpenMp) return nullptr;
  // The handle also finds symbols of the library's dependencies.
  created->set_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "omp_set_num_threads"));
  created->threads = reinterpret_cast<int (*)()>(dlsym(library, "omp_get_max_threads"));
  if (created->set_threads == nullptr || created->threads == nullptr) return nullptr;
  if (created->api.engine_create(&created->engine, kCpu, 0) != kSuccess) return nullptr;
  return created;
}

}  // namespace

const Runtime* runtime() {
  // Never unloaded: oneDNN's threads and generated code outlive every call.
  static const Runtime* const loaded = load().release();
  return loaded;
}

std::string version() {
  if (runtime() == nullptr) return "no oneDNN";
  const Version& found = *runtime()->api.version();
  return "oneDNN " + std::to_string(found.major) + "." + std::to_string(found.minor) + "." +
         std::to_string(found.patch);
}

DataType data_type(diopiDtype_t dtype) {
  switch (dtype) {
    case diopi_dtype_float32:
      return kFloat32;
    case diopi_dtype_bfloat16:
      return kBFloat16;
    case diopi_dtype_float16:
      return kFloat16;
    default:
      return kUndefined;
  }
}

MemoryDescOwner describe(DataType type, int ndim, const int64_t* sizes, const int64_t* strides) {
  MemoryDesc* created = nullptr;
  if (runtime()->api.memory_desc_create_with_strides(&created, ndim, sizes, type, strides) !=
      kSuccess)
    return nullptr;
  return MemoryDescOwner(created);
}

MemoryDescOwner describe_any(DataType type, int ndim, const int64_t* sizes) {
  MemoryDesc* created = nullptr;
  if (runtime()->api.memory_desc_create_with_tag(&created, ndim, sizes, type, kAny) != kSuccess)
    return nullptr;
  return MemoryDescOwner(created);
}

AttributesOwner default_attributes() {
  const Api& api = runtime()->api;
  Attributes* created = nullptr;
  if (api.primitive_attr_create(&created) != kSuccess) return nullptr;
  AttributesOwner owner(created);
  // Use our scratch memory: oneDNN's own is per thread and never shrinks.
  if (api.primitive_attr_set_scratchpad_mode(created, kUserScratchpad) != kSuccess) return nullptr;
  return owner;
}

}  // namespace dl::cpu::onednn
