/* Declarations that the files of this vendor share. */
#ifndef VENDOR_H_
#define VENDOR_H_

#include <stddef.h>

#include "dl/operator.h"

/* The operators of operators.c, and why the last one on this thread failed or declined. */
extern const dl_operator_t vendor_operators[];
extern const size_t vendor_operator_count;
const char* last_message(void);

/* Record why an operator fails or declines, and return the code. `message` is a literal. */
diopiError_t refuse(diopiError_t code, const char* message);

/* Run a kernel on the stream of an operator's context. */
diopiError_t launch(diopiContextHandle_t ctx, void (*kernel)(const void*), const void* arguments,
                    size_t bytes);

#endif /* VENDOR_H_ */
