#ifndef DL_ASYNC_TEST_HANDLE_H_
#define DL_ASYNC_TEST_HANDLE_H_

namespace dl::async_test {

/** A new stream or event handle: a small number that is no address and never comes again in this
 * process. */
void* next_handle();

}  // namespace dl::async_test

#endif
