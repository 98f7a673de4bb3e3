#include "extensions/companions.h"

#include "runtime/driver.h"

namespace dl::cuda {
namespace {

kit::Companion restrict_to_named(const kit::Companion& one) {
  return names_driver() ? one.only_named() : one;
}

}  // namespace

const kit::Companion& nccl_companion() {
  static const kit::Companion where =
      restrict_to_named({"DL_CUDA_NCCL",
                         {"nvidia/nccl/lib/libnccl.so.2"},
                         {"libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2"},
                         "`pip install nvidia-nccl-cu13`"});
  return where;
}

const kit::Companion& cupti_companion() {
  static const kit::Companion where =
      restrict_to_named({"DL_CUDA_CUPTI",
                         {"nvidia/cu13/lib/libcupti.so.13"},
                         {"libcupti.so.13", "/usr/local/cuda/lib64/libcupti.so.13",
                          "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13"},
                         "`pip install nvidia-cuda-cupti`"});
  return where;
}

const kit::Companion& blaslt_companion() {
  static const kit::Companion where =
      restrict_to_named({"DL_CUDA_CUBLASLT",
                         {"nvidia/cu13/lib/libcublasLt.so.13"},
                         {"libcublasLt.so.13", "/usr/local/cuda/lib64/libcublasLt.so.13"},
                         "`pip install nvidia-cublas`"});
  return where;
}

const kit::Companion& cudnn_companion() {
  static const kit::Companion where =
      restrict_to_named({"DL_CUDA_CUDNN",
                         {"nvidia/cudnn/lib/libcudnn.so.9"},
                         {"libcudnn.so.9", "/usr/local/cuda/lib64/libcudnn.so.9"},
                         "`pip install nvidia-cudnn-cu13`"});
  return where;
}

bool libraries_enabled() { return kit::libraries_enabled("DL_CUDA_LIBRARIES"); }

}  // namespace dl::cuda
