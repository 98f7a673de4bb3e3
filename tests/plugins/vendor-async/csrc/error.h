#ifndef DL_ASYNC_TEST_ERROR_H_
#define DL_ASYNC_TEST_ERROR_H_

#include "dl/kit/status.h"

namespace dl::async_test {

using kit::Error;

}  // namespace dl::async_test

#endif
