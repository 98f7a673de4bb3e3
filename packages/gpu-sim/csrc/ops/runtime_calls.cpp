// Functions that the driver provides to device code: printf and assert.

#include <cstdio>
#include <map>

#include "memory_operand.h"
#include "table.h"

namespace sim {

namespace {

constexpr size_t kMostOutput = size_t{1} << 20;

uint64_t argument(Warp& warp, const Instruction& i, size_t index, int lane, unsigned bytes) {
  const Extra& call = warp.code().extras[static_cast<size_t>(i.extra)];
  uint64_t value = 0;
  if (index < call.places.size())
    __builtin_memcpy(&value, warp.params_of(static_cast<uint32_t>(lane)) + call.places[index],
                     bytes);
  return value;
}

/** Read a zero-terminated string from device memory. */
std::string text_at(Warp& warp, const Instruction& i, int lane, uint64_t address) {
  std::string text;
  while (address != 0 && text.size() < 4096) {
    const uint8_t* byte =
        reach(warp, i, static_cast<uint32_t>(lane), Space::kGeneric, address++, 1, Purpose::kRead);
    if (byte == nullptr || *byte == 0) break;
    text += static_cast<char>(*byte);
  }
  return text;
}

/** Format one printf conversion, such as `%-8.3lf`. */
class Formatter {
 public:
  Formatter(Warp& warp, const Instruction& i, int lane, uint64_t arguments)
      : warp_(warp), i_(i), lane_(lane), at_(arguments) {}

  std::string run(const std::string& format) {
    std::string made;
    for (size_t place = 0; place < format.size(); ++place) {
      if (format[place] != '%') {
        made += format[place];
      } else if (place + 1 < format.size() && format[place + 1] == '%') {
        made += '%';
        ++place;
      } else {
        const size_t end = format.find_first_of("diouxXcfFeEgGaAsp", place + 1);
        if (end == std::string::npos) return made + format.substr(place);
        made += one(format.substr(place, end - place + 1));
        place = end;
      }
    }
    return made;
  }

 private:
  uint64_t next(unsigned bytes) {
    at_ = (at_ + bytes - 1) / bytes * bytes;
    const uint8_t* from =
        reach(warp_, i_, static_cast<uint32_t>(lane_), Space::kGeneric, at_, bytes, Purpose::kRead);
    at_ += bytes;
    uint64_t value = 0;
    if (from != nullptr) __builtin_memcpy(&value, from, bytes);
    return value;
  }

  std::string one(const std::string& conversion) {
    std::string flags;
    int longs = 0;
    for (size_t i = 1; i + 1 < conversion.size(); ++i) {
      const char c = conversion[i];
      if (c == 'l' || c == 'j' || c == 'z' || c == 't') {
        ++longs;
      } else if (c == '*') {
        flags += std::to_string(static_cast<int32_t>(next(4)));
      } else if (c != 'h') {
        flags += c;
      }
    }
    // Limit the width, so that a kernel cannot exhaust host memory.
    if (flags.size() > 12) flags.resize(12);
    const char kind = conversion.back();
    char text[512];
    switch (kind) {
      case 's':
        std::snprintf(text, sizeof text, ("%" + flags + "s").c_str(),
                      text_at(warp_, i_, lane_, next(8)).c_str());
        break;
      case 'p':
        std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(next(8)));
        break;
      case 'c':
        std::snprintf(text, sizeof text, ("%" + flags + "c").c_str(), static_cast<int>(next(4)));
        break;
      case 'd':
      case 'i': {
        const long long value =
            longs > 0 ? static_cast<long long>(next(8)) : static_cast<int32_t>(next(4));
        std::snprintf(text, sizeof text, ("%" + flags + "lld").c_str(), value);
        break;
      }
      case 'o':
      case 'u':
      case 'x':
      case 'X': {
        const unsigned long long value = longs > 0 ? next(8) : next(4);
        std::snprintf(text, sizeof text, ("%" + flags + "ll" + kind).c_str(), value);
        break;
      }
      default: {
        const uint64_t bits = next(8);
        double value;
        __builtin_memcpy(&value, &bits, sizeof value);
        std::snprintf(text, sizeof text, ("%" + flags + kind).c_str(), value);
      }
    }
    return text;
  }

  Warp& warp_;
  const Instruction& i_;
  int lane_;
  uint64_t at_;
};

void print(Warp& warp, const Instruction& i, uint32_t mask) {
  each_lane(mask, [&](int lane) {
    const std::string format = text_at(warp, i, lane, argument(warp, i, 0, lane, 8));
    Formatter formatter(warp, i, lane, argument(warp, i, 1, lane, 8));
    std::string& output = warp.launch.output();
    if (output.size() < kMostOutput) output += formatter.run(format);
    const Extra& call = warp.code().extras[static_cast<size_t>(i.extra)];
    const int32_t result = 1;
    if (!call.more.empty())
      __builtin_memcpy(warp.params_of(static_cast<uint32_t>(lane)) + call.more[0], &result, 4);
  });
}

void assert_failed(Warp& warp, const Instruction& i, uint32_t mask) {
  each_lane(mask, [&](int lane) {
    warp.launch.report(Fault::kAssert, warp, static_cast<uint32_t>(lane), i, 0, [&] {
      return "assertion '" + text_at(warp, i, lane, argument(warp, i, 0, lane, 8)) +
             "' failed at " + text_at(warp, i, lane, argument(warp, i, 1, lane, 8)) + ":" +
             std::to_string(argument(warp, i, 2, lane, 4)) + " in " +
             text_at(warp, i, lane, argument(warp, i, 3, lane, 8));
    });
  });
  warp.launch.fail(Outcome::kAssert, true);
}

}  // namespace

Action runtime_call(std::string_view name) {
  if (name == "vprintf") return print;
  if (name == "__assertfail") return assert_failed;
  return nullptr;
}

}  // namespace sim
