// The libraries of other wheels that extensions use where they are installed.
#ifndef DL_CUDA_EXTENSIONS_COMPANIONS_H_
#define DL_CUDA_EXTENSIONS_COMPANIONS_H_

#include "dl/kit/companion.h"

namespace dl::cuda {

inline const kit::Companion& nccl_companion() {
  static const kit::Companion where{"DL_CUDA_NCCL",
                                    {"nvidia/nccl/lib/libnccl.so.2"},
                                    {"libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2"},
                                    "`pip install nvidia-nccl-cu13`"};
  return where;
}

}  // namespace dl::cuda

#endif  // DL_CUDA_EXTENSIONS_COMPANIONS_H_
