// Fallbacks of dispatch keys that only tensors of dl have. Registering one changes the tables of
// all of torch's operators, which takes some milliseconds: it waits until dl is used.
#pragma once

#include <torch/library.h>

#include <utility>

#include "runtime/first_use.h"

namespace dl::core {

template <c10::DispatchKey key, torch::CppFunction (*made)()>
bool add_layer_fallback() {
  return put_off_until_first_use([] {
    // Never destroyed: registrations last as long as the process.
    static auto* library = new torch::Library(torch::Library::IMPL, "_", key, __FILE__, __LINE__);
    library->fallback(made());
  });
}

}  // namespace dl::core
