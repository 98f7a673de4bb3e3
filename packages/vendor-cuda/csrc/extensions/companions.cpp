#include "extensions/companions.h"

#include <cstdlib>
#include <cstring>

#include "runtime/driver.h"

namespace dl::cuda {

const kit::Companion& nccl_companion() {
  static const kit::Companion where =
      kit::Companion{"DL_CUDA_NCCL",
                     {"nvidia/nccl/lib/libnccl.so.2"},
                     {"libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2"},
                     "`pip install nvidia-nccl-cu13`"}
          .with_driver(names_driver());
  return where;
}

const kit::Companion& cupti_companion() {
  static const kit::Companion where =
      kit::Companion{"DL_CUDA_CUPTI",
                     {"nvidia/cu13/lib/libcupti.so.13"},
                     {"libcupti.so.13", "/usr/local/cuda/lib64/libcupti.so.13",
                      "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13"},
                     "`pip install nvidia-cuda-cupti`"}
          .with_driver(names_driver());
  return where;
}

const kit::Companion& blaslt_companion() {
  static const kit::Companion where =
      kit::Companion{"DL_CUDA_CUBLASLT",
                     {"nvidia/cu13/lib/libcublasLt.so.13"},
                     {"libcublasLt.so.13", "/usr/local/cuda/lib64/libcublasLt.so.13"},
                     "`pip install nvidia-cublas`"}
          .with_driver(names_driver());
  return where;
}

const kit::Companion& cudnn_companion() {
  static const kit::Companion where =
      kit::Companion{"DL_CUDA_CUDNN",
                     {"nvidia/cudnn/lib/libcudnn.so.9"},
                     {"libcudnn.so.9", "/usr/local/cuda/lib64/libcudnn.so.9"},
                     "`pip install nvidia-cudnn-cu13`"}
          .with_driver(names_driver());
  return where;
}

bool libraries_wanted() {
  const char* const said = std::getenv("DL_CUDA_LIBRARIES");
  return said == nullptr || std::strcmp(said, "off") != 0;
}

}  // namespace dl::cuda
