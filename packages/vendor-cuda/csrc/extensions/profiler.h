#ifndef DL_CUDA_EXTENSIONS_PROFILER_H_
#define DL_CUDA_EXTENSIONS_PROFILER_H_

#include "dl/base.h"

namespace dl::cuda {

// What ran on a card, by CUPTI. Without that hosts measure with events.
dl_extension_t* profiler_extension(dl_extension_t* next);

}  // namespace dl::cuda

#endif  // DL_CUDA_EXTENSIONS_PROFILER_H_
