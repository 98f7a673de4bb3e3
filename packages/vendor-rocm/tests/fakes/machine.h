// Access to the memory and devices of the driver in DL_ROCM_DRIVER, for fakes of libraries.
#ifndef DL_ROCM_TESTS_FAKES_MACHINE_H_
#define DL_ROCM_TESTS_FAKES_MACHINE_H_

#include <string>
#include <vector>

#include "dl/kit/hip_driver.h"
#include "libraries/elements.h"

#pragma GCC visibility push(hidden)

namespace fake {

namespace hip = dl::kit::hip;

extern const Fake checker;

struct Machine {
  static dl::kit::HipDriver& driver() {
    static dl::kit::HipDriver found({setting("DL_ROCM_DRIVER")});
    return found;
  }
  static void check(int code, const std::string& what) {
    checker.require(code == 0, what + ": " + driver().describe(code));
  }
  static hip::Stream stream_of(void* stream) { return static_cast<hip::Stream>(stream); }

  // Identifies the current device; never null and never dereferenced.
  static const void* current() {
    static const char devices[64] = {};
    int device = 0;
    check(driver().device_current(&device), "hipGetDevice");
    return &devices[device];
  }
  static std::vector<char> read(const void* from, size_t bytes, void* stream) {
    std::vector<char> data(bytes);
    check(driver().copy(data.data(), from, bytes, hip::kDeviceToHost, stream_of(stream)),
          "an operand exceeds its allocation");
    check(driver().stream_synchronize(stream_of(stream)), "the stream");
    return data;
  }
  static void write(void* to, const std::vector<char>& data, void* stream) {
    check(driver().copy(to, data.data(), data.size(), hip::kHostToDevice, stream_of(stream)),
          "the result exceeds its allocation");
    check(driver().stream_synchronize(stream_of(stream)), "the stream");
  }
  static void fill(void* memory, size_t bytes, void* stream) {
    check(driver().set_bytes(memory, 0x5a, bytes, stream_of(stream)),
          "the workspace is smaller than its stated size");
  }
};

}  // namespace fake

#pragma GCC visibility pop

#endif  // DL_ROCM_TESTS_FAKES_MACHINE_H_
