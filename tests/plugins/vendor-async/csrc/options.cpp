#include "options.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
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

constexpr const char* kLies[] = {
    "",
    "capture_runs_its_work",
    "replay_skips_the_last_node",
    "activity_ends_before_its_start",
    "activity_is_of_another_device",
    "activity_is_of_another_stream",
    "activities_are_out_of_order",
    "clock_is_a_second_off",
    "clock_is_uncertain_below_zero",
    "reduction_forgets_a_rank",
    "parts_are_in_the_wrong_order",
    "rank_is_none",
    "message_is_one_byte_short",
    "peer_copy_is_one_byte_short",
    "opened_memory_is_a_copy",
};
static_assert(std::size(kLies) == static_cast<size_t>(Lie::kOpenedMemoryIsACopy) + 1);

Lie read_lie(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return Lie::kNone;
  const auto* found = std::find(std::begin(kLies), std::end(kLies), std::string(text));
  if (found == std::end(kLies)) {
    throw Error(DL_INVALID_ARGUMENT,
                std::string(name) + "='" + text +
                    "' is not a wrong answer of this vendor; correct or unset it");
  }
  return static_cast<Lie>(found - std::begin(kLies));
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
  options.padding = read_number("DL_ASYNC_TEST_PADDING", 0, 0, 65536);
  options.id_bytes = read_number("DL_ASYNC_TEST_ID_BYTES", 0, 0, uint64_t{1} << 20);
  options.faults = read_number("DL_ASYNC_TEST_FAULTS", 0, 0, 1) == 1;
  options.forgets = read_number("DL_ASYNC_TEST_FORGETS", 0, 0, 1) == 1;
  options.lie = read_lie("DL_ASYNC_TEST_LIE");
  return options;
}

}  // namespace dl::async_test
