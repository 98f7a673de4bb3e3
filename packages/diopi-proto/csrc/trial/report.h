// What the processes of a trial write: lines, each an object of JSON.
//   {"stage": s}              what is being done from here on
//   {"unloadable": text}      the loader says no
//   {"refused": text}         the library itself does, in order
//   {"defect": text}          the library breaks the interface
//   {"vendor": {…}}, {"operators": [[name, fingerprint], …]}, {"device": {…}}, {"files": […]}
//   {"extensions": [name, …]}, {"kernels": {…}}
//   {"said": text}            the last that it logged before it had told its devices
//   {"crashed_in": path}      the file whose code raised the signal that follows
//   {"done": true}            the child came to its end
//   {"end": "exit" | "signal" | "timeout" | "error", "code": n}   how it ended, by its parent
#ifndef DL_TRIAL_REPORT_H_
#define DL_TRIAL_REPORT_H_

#include <unistd.h>

#include <string>

#include "dl/foreign.hpp"

namespace dl::trial {

// A string of JSON; the text must be printable.
inline std::string quoted(const std::string& text) {
  std::string string = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') string += '\\';
    string += c;
  }
  return string + '"';
}

inline std::string quoted_foreign(const char* text) { return quoted(foreign::read_text(text)); }

class Report {
 public:
  explicit Report(int descriptor) : descriptor_(descriptor), process_(getpid()) {}

  void line(const std::string& object) const {
    // A library may fork: only the process that began speaks.
    if (getpid() != process_) _exit(0);
    const std::string whole = object + '\n';
    for (size_t written = 0; written < whole.size();) {
      const ssize_t done = write(descriptor_, whole.data() + written, whole.size() - written);
      if (done < 0 && errno != EINTR) return;
      if (done > 0) written += static_cast<size_t>(done);
    }
  }
  void text(const char* key, const std::string& printable) const {
    line("{\"" + std::string(key) + "\": " + quoted(printable) + "}");
  }

 private:
  int descriptor_;
  pid_t process_;
};

}  // namespace dl::trial

#endif  // DL_TRIAL_REPORT_H_
