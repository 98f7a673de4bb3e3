// The fallback for composed operators. Unlike wrapper.h it goes together with the headers of ATen's
// operators, which declare another device_of.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include "aten/fallback.h"

namespace dl::core {

inline c10::OperatorHandle find_operator(const char* name, const char* overload) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
}

}  // namespace dl::core
