// Extensions of this vendor's table.
#ifndef DL_CPU_EXTENSIONS_EXTENSIONS_H_
#define DL_CPU_EXTENSIONS_EXTENSIONS_H_

#include "dl/constants.h"
#include "dl/kernel.h"

namespace dl::cpu {

extern dl_kernel_extension_t kernel_extension;
extern dl_constants_extension_t constants_extension;

}  // namespace dl::cpu

#endif  // DL_CPU_EXTENSIONS_EXTENSIONS_H_
