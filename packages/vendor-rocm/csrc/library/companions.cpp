#include "library/companions.h"

#include "runtime/driver.h"

namespace dl::rocm {
namespace {

kit::Companion restrict_to_named(const kit::Companion& one) {
  return names_driver() ? one.only_named() : one;
}

}  // namespace

const kit::Companion& blaslt_companion() {
  static const kit::Companion where =
      restrict_to_named({"DL_ROCM_HIPBLASLT",
                         {},
                         {"libhipblaslt.so.1", "libhipblaslt.so.0",
                          "/opt/rocm/lib/libhipblaslt.so.1", "/opt/rocm/lib/libhipblaslt.so.0"},
                         "ROCm's package hipblaslt"});
  return where;
}

const kit::Companion& miopen_companion() {
  static const kit::Companion where =
      restrict_to_named({"DL_ROCM_MIOPEN",
                         {},
                         {"libMIOpen.so.1", "/opt/rocm/lib/libMIOpen.so.1"},
                         "ROCm's package miopen-hip"});
  return where;
}

const kit::Companion& rccl_companion() {
  static const kit::Companion where = restrict_to_named(
      {"DL_ROCM_RCCL", {}, {"librccl.so.1", "/opt/rocm/lib/librccl.so.1"}, "ROCm's package rccl"});
  return where;
}

const kit::Companion& roctracer_companion() {
  static const kit::Companion where =
      restrict_to_named({"DL_ROCM_ROCTRACER",
                         {},
                         {"libroctracer64.so.4", "/opt/rocm/lib/libroctracer64.so.4"},
                         "ROCm's package roctracer"});
  return where;
}

bool libraries_enabled() { return kit::libraries_enabled("DL_ROCM_LIBRARIES"); }

}  // namespace dl::rocm
