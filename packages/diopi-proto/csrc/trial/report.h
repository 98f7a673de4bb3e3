// Output of the processes of a trial: one JSON object per line.
//   {"stage": s}              the step that begins now
//   {"unloadable": text}      the dynamic loader cannot load the library
//   {"refused": text}         the library returned an error, as the contract allows
//   {"defect": text}          the library violates the interface
//   {"vendor": {…}}, {"operators": [[name, fingerprint], …]}, {"device": {…}}, {"files": […]}
//   {"extensions": [name, …]}, {"kernels": {…}}
//   {"said": text}            the last message that it logged until its devices were counted
//   {"crashed_in": path}      the file whose code raised the fatal signal
//   {"done": true}            the child completed the trial
//   {"end": "exit" | "signal" | "timeout" | "error", "code": n}   written by the parent
#ifndef DL_TRIAL_REPORT_H_
#define DL_TRIAL_REPORT_H_

#include <unistd.h>

#include <string>

#include "dl/foreign.hpp"

namespace dl::trial {

// Returns a JSON string; the text must be printable.
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
    // A library may fork: only the original process writes.
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
