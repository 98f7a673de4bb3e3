#include "options.h"

#include <cerrno>
#include <cstdlib>
#include <string>

#include "error.h"

namespace dl::async_test {
namespace {

uint64_t read_number(const char* name, uint64_t standard, uint64_t minimum, uint64_t maximum) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return standard;
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = std::strtoull(text, &end, 10);
  if (errno != 0 || *end != '\0' || *text == '-' || value < minimum || value > maximum) {
    throw Error(DL_INVALID_ARGUMENT, std::string(name) + "='" + text +
                                         "' must be a whole number from " +
                                         std::to_string(minimum) + " to " +
                                         std::to_string(maximum) + "; correct or unset it");
  }
  return value;
}

}  // namespace

Options Options::from_environment() {
  const Options standard;
  Options options;
  options.devices = static_cast<int32_t>(
      read_number("DL_ASYNC_TEST_DEVICES", static_cast<uint64_t>(standard.devices), 0, 64));
  options.memory_bytes =
      read_number("DL_ASYNC_TEST_MEMORY", standard.memory_bytes, 4096, uint64_t{1} << 40);
  options.pinned_bytes =
      read_number("DL_ASYNC_TEST_PINNED", standard.pinned_bytes, 4096, uint64_t{1} << 40);
  options.delay_us = read_number("DL_ASYNC_TEST_DELAY_US", standard.delay_us, 0, 60'000'000);
  options.activities =
      read_number("DL_ASYNC_TEST_ACTIVITIES", standard.activities, 1, uint64_t{1} << 24);
  options.faults = read_number("DL_ASYNC_TEST_FAULTS", 0, 0, 1) == 1;
  options.forgets = read_number("DL_ASYNC_TEST_FORGETS", 0, 0, 1) == 1;
  return options;
}

}  // namespace dl::async_test
