// Version and error functions of a library in DIOPI's own convention. Only in libdiopi_impl.so.
#if defined(DIOPIRT_EXTERN)

#include "dl/operator.hpp"

extern "C" {

DL_EXPORT const char* diopiGetVendorName(void) { return "cpu"; }

DL_EXPORT const char* diopiGetImplVersion(void) { return DL_CPU_VERSION; }

DL_EXPORT const char* diopiGetLastErrorString(void) { return dl::last_error(); }
}

#endif
