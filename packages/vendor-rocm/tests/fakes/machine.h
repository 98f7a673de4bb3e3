// The memory and the devices of the driver that DL_ROCM_DRIVER names, for fakes of libraries.
#ifndef DL_ROCM_TESTS_FAKES_MACHINE_H_
#define DL_ROCM_TESTS_FAKES_MACHINE_H_

#include <string>
#include <vector>

#include "dl/kit/hip_driver.h"
#include "fake_libraries/numbers.h"

#pragma GCC visibility push(hidden)

namespace fake {

namespace hip = dl::kit::hip;

extern const Fake judge;

struct Machine {
  static dl::kit::HipDriver& driver() {
    static dl::kit::HipDriver found({setting("DL_ROCM_DRIVER")});
    return found;
  }
  static void check(int code, const std::string& what) {
    judge.require(code == 0, what + ": " + driver().describe(code));
  }
  static hip::Stream stream_of(void* stream) { return static_cast<hip::Stream>(stream); }

  // No pointer of anything; never null.
  static const void* current() {
    static const char devices[64] = {};
    int device = 0;
    check(driver().device_current(&device), "hipGetDevice");
    return &devices[device];
  }
  static std::vector<char> read(const void* from, size_t bytes, void* stream) {
    std::vector<char> data(bytes);
    check(driver().copy(data.data(), from, bytes, hip::kDeviceToHost, stream_of(stream)),
          "an operand reaches beyond its memory");
    check(driver().stream_synchronize(stream_of(stream)), "the stream");
    return data;
  }
  static void write(void* to, const std::vector<char>& data, void* stream) {
    check(driver().copy(to, data.data(), data.size(), hip::kHostToDevice, stream_of(stream)),
          "the result reaches beyond its memory");
    check(driver().stream_synchronize(stream_of(stream)), "the stream");
  }
  static void fill(void* memory, size_t bytes, void* stream) {
    check(driver().set_bytes(memory, 0x5a, bytes, stream_of(stream)),
          "the workspace is shorter than was said");
  }
};

}  // namespace fake

#pragma GCC visibility pop

#endif  // DL_ROCM_TESTS_FAKES_MACHINE_H_
