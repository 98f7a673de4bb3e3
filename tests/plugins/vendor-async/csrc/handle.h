#ifndef DL_ASYNC_TEST_HANDLE_H_
#define DL_ASYNC_TEST_HANDLE_H_

namespace dl::async_test {

/** Return a new stream or event handle: a small number that is not an address and is never reused
 * in this process. */
void* next_handle();

}  // namespace dl::async_test

#endif
