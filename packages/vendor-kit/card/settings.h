// What tests tell a driver that is played: variables of the environment, read at each call, so that
// a program may change them while it runs.
#ifndef DL_CARD_SETTINGS_H_
#define DL_CARD_SETTINGS_H_

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#pragma GCC visibility push(hidden)

namespace card {

inline std::string setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}
inline int number(const char* name, const char* otherwise) {
  return std::atoi(setting(name, otherwise).c_str());
}

// Item `index` of a list with commas; the last one stands for those behind it.
inline std::string item_of(std::string list, int index) {
  for (; index > 0 && list.find(',') != std::string::npos; --index)
    list = list.substr(list.find(',') + 1);
  return list.substr(0, list.find(','));
}

// Functions that fail on demand, and a file that gets a line for every call.
class Calls {
 public:
  // `fail` names a variable as "cuLaunchKernel:700,cuInit:999": from error 700 on, all calls that
  // follow fail alike, as on a card that is lost. `log` names the file's variable.
  Calls(const char* fail, const char* log) : fail_(fail), log_(log) {}

  // What a call has to return before it does anything; 0 for nothing.
  int enter(const char* function) {
    constexpr int kLost = 700;
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::string log = setting(log_, "");
    if (!log.empty()) {
      std::FILE* file = std::fopen(log.c_str(), "a");
      std::fprintf(file, "%s\n", function);
      std::fclose(file);
    }
    if (lost_ != 0) return lost_;
    const std::string list = "," + setting(fail_, "");
    const size_t at = list.find("," + std::string(function) + ":");
    if (at == std::string::npos) return 0;
    const int code = std::atoi(list.c_str() + at + std::strlen(function) + 2);
    if (code >= kLost) lost_ = code;
    return code;
  }

 private:
  const char *fail_, *log_;
  std::mutex mutex_;
  int lost_ = 0;
};

}  // namespace card

#pragma GCC visibility pop

#endif  // DL_CARD_SETTINGS_H_
