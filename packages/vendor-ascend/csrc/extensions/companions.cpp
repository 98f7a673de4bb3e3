#include "extensions/companions.h"

#include "runtime/driver.h"

namespace dl::ascend {
namespace {

kit::Companion restrict_to_named(const kit::Companion& one) {
  return names_driver() ? one.only_named() : one;
}

}  // namespace

const kit::Companion& hccl_companion() {
  static const kit::Companion where =
      restrict_to_named({"DL_ASCEND_HCCL", {}, {"libhccl.so"}, "CANN's toolkit"});
  return where;
}

const kit::Companion& mspti_companion() {
  static const kit::Companion where =
      restrict_to_named({"DL_ASCEND_MSPTI", {}, {"libmspti.so"}, "CANN's toolkit"});
  return where;
}

// The runtime compiler compiles for any device, whatever the runtime.
const kit::Companion& rtc_companion() {
  static const kit::Companion where{"DL_ASCEND_RTC", {}, {"libacl_rtc.so"}, "CANN's toolkit"};
  return where;
}

}  // namespace dl::ascend
