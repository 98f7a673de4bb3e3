// A libcublasLt.so.13 for tests: it checks every argument against cuBLASLt's documentation, and
// computes on the host with memory of the driver in DL_CUDA_DRIVER.
//
//   FAKE_CUBLASLT_FAIL=cublasLtMatmul:13   functions that fail, with the status
//   FAKE_CUBLASLT_CALLS=path               log file with one line per call; a product is logged as
//                                          "cublasLtMatmul 32f 5x3x4 batch 2 NT bias", followed by
//                                          "tf32" and "to 32f" if they apply
//
// Invalid calls abort the process with a message.
#include <vector>

#include "dl/kit/cuda_driver.h"
#include "libraries/elements.h"
#include "library/blaslt_api.h"

#pragma GCC visibility push(hidden)

namespace fake {

using Constants = dl::cuda::blaslt::Constants;
namespace cuda = dl::kit::cuda;

constexpr int kInvalidValue = 7, kNotSupported = 15;
const Fake checker("cuBLASLt", "CUBLASLT");

struct Machine {
  static dl::kit::CudaDriver& driver() {
    static dl::kit::CudaDriver found({setting("DL_CUDA_DRIVER")});
    return found;
  }
  static void check(int code, const char* what) {
    checker.require(code == 0, std::string(what) + ": " + driver().describe(code));
  }
  static cuda::Stream stream_of(void* stream) { return static_cast<cuda::Stream>(stream); }

  static const void* current() {
    cuda::Context context = nullptr;
    check(driver().context_current(&context), "cuCtxGetCurrent");
    return context;
  }
  static std::vector<char> read(const void* from, size_t bytes, void* stream) {
    std::vector<char> data(bytes);
    check(driver().copy_to_host(data.data(), cuda::address_of(from), bytes, stream_of(stream)),
          "a matrix exceeds its allocation");
    check(driver().stream_synchronize(stream_of(stream)), "the stream");
    return data;
  }
  static void write(void* to, const std::vector<char>& data, void* stream) {
    check(
        driver().copy_to_device(cuda::address_of(to), data.data(), data.size(), stream_of(stream)),
        "the result exceeds its allocation");
    check(driver().stream_synchronize(stream_of(stream)), "the stream");
  }
  static void fill(void* memory, size_t bytes, void* stream) {
    check(driver().set_bytes(cuda::address_of(memory), 0x5a, bytes, stream_of(stream)),
          "the workspace is smaller than its stated size");
  }
};

}  // namespace fake

#pragma GCC visibility pop

#define FAKE_BLASLT(function) cublasLt##function
#include "libraries/blaslt.h"
