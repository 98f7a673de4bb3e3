// The choices extension (dl/choices.h) over the choices of library/; it begins the list of
// extensions.
#include "library/choices.h"

#include <string>

#include "dl/kit/choices.h"
#include "extensions/extensions.h"
#include "library/libraries.h"
#include "runtime/vendor.h"

namespace dl::cpu {

std::string Vendor::choice_identity(int32_t device) {
  const dl_device_properties_t properties = device_properties(device);
  return std::string("cpu ") + kVersion + ", " + properties.architecture + ", " + properties.name +
         ", " + std::to_string(properties.multiprocessor_count) + " processors, " +
         onednn::version() + ", " + openblas::version();
}

dl_extension_t* Vendor::extensions() {
  return kit::choices_extension<Vendor, choices::Choices>(
      reinterpret_cast<dl_extension_t*>(&kernel_extension));
}

}  // namespace dl::cpu
