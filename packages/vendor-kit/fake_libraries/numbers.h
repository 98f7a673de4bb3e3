// What fakes of libraries have in common: numbers of the dtypes that libraries compute with, in
// memory of the host; settings, and what is said against a caller.
#ifndef FAKE_LIBRARIES_NUMBERS_H_
#define FAKE_LIBRARIES_NUMBERS_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace fake {

enum class Number { kFloat16, kBfloat16, kFloat32, kFloat64 };

inline size_t bytes_of(Number type) {
  return type == Number::kFloat64 ? 8 : type == Number::kFloat32 ? 4 : 2;
}
inline const char* name_of(Number type) {
  const char* const names[] = {"16f", "16bf", "32f", "64f"};
  return names[static_cast<int>(type)];
}

inline double number(Number type, const char* at) {
  if (type == Number::kFloat64) {
    double value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  if (type == Number::kFloat16) {
    _Float16 value;
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
  }
  uint32_t bits = 0;
  std::memcpy(&bits, at, bytes_of(type));
  if (type == Number::kBfloat16) bits <<= 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return static_cast<double>(value);
}

inline void put(Number type, char* at, double value) {
  const auto narrow = static_cast<float>(value);
  if (type == Number::kFloat64) {
    std::memcpy(at, &value, sizeof value);
  } else if (type == Number::kFloat32) {
    std::memcpy(at, &narrow, sizeof narrow);
  } else if (type == Number::kFloat16) {
    const auto half = static_cast<_Float16>(value);
    std::memcpy(at, &half, sizeof half);
  } else {
    uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof bits);
    const auto half = static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    std::memcpy(at, &half, sizeof half);
  }
}

// What cores for matrices leave of a finite float: 11 digits.
inline double rounded_to_tf32(double value) {
  const auto narrow = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  bits = (bits + 0x1000) & ~uint32_t{0x1fff};
  float rounded;
  std::memcpy(&rounded, &bits, sizeof rounded);
  return static_cast<double>(rounded);
}

inline std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A fake of one name, whose settings are FAKE_<name>_CALLS, a file that gets a line for every call,
// and FAKE_<name>_FAIL, "function:status,…".
class Fake {
 public:
  Fake(const char* what, const char* name) : what_(what), name_(name) {}

  std::string told(const char* setting_name) const {
    return setting(("FAKE_" + name_ + "_" + setting_name).c_str());
  }
  void note(const std::string& line) const {
    const std::string path = told("CALLS");
    if (path.empty()) return;
    std::FILE* file = std::fopen(path.c_str(), "a");
    std::fprintf(file, "%s\n", line.c_str());
    std::fclose(file);
  }
  // The status that a function is to fail with; 0: it is not.
  int told_to_fail(const std::string& function) const {
    const std::string list = "," + told("FAIL"), wanted = "," + function + ":";
    const size_t at = list.find(wanted);
    return at == std::string::npos ? 0 : std::atoi(list.c_str() + at + wanted.size());
  }
  void require(bool holds, const std::string& what) const {
    if (holds) return;
    std::fprintf(stderr, "fake %s: %s\n", what_.c_str(), what.c_str());
    std::abort();
  }

 private:
  const std::string what_, name_;
};

}  // namespace fake

#endif  // FAKE_LIBRARIES_NUMBERS_H_
