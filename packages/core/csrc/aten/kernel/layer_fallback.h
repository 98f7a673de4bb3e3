// Fallbacks of dispatch keys that only dl tensors have. Registering one rebuilds the dispatch
// tables of all torch operators, which takes some milliseconds: it is deferred to the first use of
// dl.
#pragma once

#include <torch/library.h>

#include <utility>

#include "runtime/first_use.h"

namespace dl::core {

template <c10::DispatchKey key, torch::CppFunction (*made)()>
bool add_layer_fallback() {
  return put_off_until_first_use([] {
    // Never destroyed: registrations last until the process exits.
    static auto* library = new torch::Library(torch::Library::IMPL, "_", key, __FILE__, __LINE__);
    library->fallback(made());
  });
}

}  // namespace dl::core
