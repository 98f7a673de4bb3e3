// Settings that tests pass to fake drivers: environment variables, read at each call, so that a
// program can change them while it runs.
#ifndef DL_FAKES_SETTINGS_H_
#define DL_FAKES_SETTINGS_H_

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#pragma GCC visibility push(hidden)

namespace fake_driver {

inline std::string setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}
inline int int_setting(const char* name, const char* otherwise) {
  return std::atoi(setting(name, otherwise).c_str());
}

// Item `index` of a comma-separated list; the last item also stands for all later ones.
inline std::string item_of(std::string list, int index) {
  for (; index > 0 && list.find(',') != std::string::npos; --index)
    list = list.substr(list.find(',') + 1);
  return list.substr(0, list.find(','));
}

// Failure injection and a log file with one line per call.
class Calls {
 public:
  // `fail` names a variable such as "cuLaunchKernel:700,cuInit:999". After an error of which
  // `is_lost` is true, all later calls fail with the same error, as on a lost device. `log` names
  // the variable with the file's path.
  Calls(const char* fail, const char* log, bool (*is_lost)(int) = is_lost_gpu)
      : fail_(fail), log_(log), is_lost_(is_lost) {}

  // Logs a call and returns the error that is injected into it; 0 for none.
  int enter(const char* function) {
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
    if (is_lost_(code)) lost_ = code;
    return code;
  }

 private:
  // CUDA's and HIP's errors of a lost device begin here.
  static bool is_lost_gpu(int code) { return code >= 700; }

  const char *fail_, *log_;
  bool (*const is_lost_)(int);
  std::mutex mutex_;
  int lost_ = 0;
};

}  // namespace fake_driver

#pragma GCC visibility pop

#endif  // DL_FAKES_SETTINGS_H_
