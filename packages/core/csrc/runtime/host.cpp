#include "runtime/host.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <pthread.h>
#include <torch/version.h>

#include <atomic>
#include <cstdlib>

#include "dl/foreign.hpp"
#include "dl/status.h"

namespace dl::core {
namespace {

std::atomic<bool> device_used{false};
std::atomic<bool> bad_fork{false};

void* allocate(const dl_host_t*, uint64_t bytes, uint64_t alignment) {
  void* memory = nullptr;
  if (alignment < sizeof(void*)) alignment = sizeof(void*);
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

void deallocate(const dl_host_t*, void* memory) { std::free(memory); }

void log(const dl_host_t*, int32_t level, const char* message) {
  try {
    if (level >= DL_LOG_WARNING) TORCH_WARN("[dl] ", foreign::read_text(message));
  } catch (...) {
    // The user may have turned warnings into errors, which a vendor's log call cannot propagate.
  }
}

void complain(const char* what) noexcept { log(nullptr, DL_LOG_ERROR, what); }

int32_t parallel_for(const dl_host_t*, int64_t begin, int64_t end, int64_t grain, dl_range_fn body,
                     void* arg) {
  if (C10_UNLIKELY(bad_fork.load(std::memory_order_relaxed))) return DL_UNAVAILABLE;
  if (begin >= end) return DL_OK;
  if (C10_UNLIKELY(body == nullptr)) {
    complain("a vendor called the host's parallel_for with a NULL body");
    return DL_INVALID_ARGUMENT;
  }
  try {
    at::parallel_for(begin, end, grain,
                     [&](int64_t first, int64_t last) { body(arg, first, last); });
    return DL_OK;
  } catch (const std::exception& error) {
    complain(("the body of a vendor's parallel_for threw an exception: " +
              foreign::printable(error.what()))
                 .c_str());
  } catch (...) {
    complain("the body of a vendor's parallel_for threw an exception that is not a std::exception");
  }
  return DL_ERROR;
}

int32_t num_threads(const dl_host_t*) {
  return at::in_parallel_region() ? 1 : at::get_num_threads();
}

// torch has one setting for an operation on accelerators, under CUDA's name.
int32_t float32_precision(at::Float32Op operation) {
  try {
    const at::Float32Precision wanted =
        at::globalContext().float32Precision(at::Float32Backend::CUDA, operation);
    return wanted == at::Float32Precision::TF32 ? DL_MATMUL_TF32 : DL_MATMUL_FLOAT32;
  } catch (...) {
    return DL_MATMUL_FLOAT32;
  }
}

// torch.set_float32_matmul_precision, torch.backends.cuda.matmul.allow_tf32 and .fp32_precision,
// and torch.backends.fp32_precision all change it.
int32_t float32_matmul_precision(const dl_host_t*) {
  return float32_precision(at::Float32Op::MATMUL);
}

// torch.backends.cudnn.allow_tf32, which is True by default, torch.backends.cudnn.conv
// .fp32_precision and torch.backends.fp32_precision all change it.
int32_t float32_convolution_precision(const dl_host_t*) {
  return float32_precision(at::Float32Op::CONV);
}

// torch.use_deterministic_algorithms; the setting for cuDNN alone,
// torch.backends.cudnn.deterministic, does not count.
int32_t deterministic(const dl_host_t*) {
  return at::globalContext().deterministicAlgorithms() ? 1 : 0;
}

const dl_host_t kHost = {
    sizeof(dl_host_t),
    nullptr,
    "torch",
    TORCH_VERSION,
    allocate,
    deallocate,
    log,
    parallel_for,
    num_threads,
    float32_matmul_precision,
    float32_convolution_precision,
    deterministic,
};

}  // namespace

const dl_host_t* host_table() { return &kHost; }

bool in_bad_fork() { return bad_fork.load(std::memory_order_relaxed); }

void check_not_forked() {
  TORCH_CHECK(!in_bad_fork(),
              "[dl] this process was forked after its parent had used a dl device, which cannot "
              "work: threads and "
              "driver state do not survive a fork. Use the 'spawn' start method "
              "(torch.multiprocessing.set_start_method('spawn')), or fork before the first use of "
              "the device");
}

void note_device_use() {
  if (C10_LIKELY(device_used.load(std::memory_order_relaxed))) return;
  if (!device_used.exchange(true)) {
    pthread_atfork(nullptr, nullptr, [] { bad_fork.store(true, std::memory_order_relaxed); });
  }
}

}  // namespace dl::core
