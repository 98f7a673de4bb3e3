// Facts about CANN and the NPUs of a machine, and the reason if they cannot be used.
#ifndef DL_ASCEND_RUNTIME_INSTALLATION_H_
#define DL_ASCEND_RUNTIME_INSTALLATION_H_

#include <string>

namespace dl::ascend {

struct Installation {
  std::string device_file;  // of the kernel driver
  bool has_device = false;
  bool may_open_device = false;
  bool has_library = false;    // the loader finds the runtime library
  bool has_operators = false;  // ASCEND_OPP_PATH is set
  std::string script;          // path of an installed set_env.sh; empty if none was found
};

// Returns why there is no usable NPU, with the remedy; empty if one seems to be present.
inline std::string why_absent(const Installation& found) {
  std::string reason;
  const auto add = [&reason](const std::string& text) {
    reason += (reason.empty() ? "" : "; and ") + text;
  };
  if (!found.has_device) {
    add("there is no Ascend NPU, or its kernel driver is not loaded: " + found.device_file +
        " does not exist (containers need --device=/dev/davinci0 --device=/dev/davinci_manager "
        "--device=/dev/devmm_svm --device=/dev/hisi_hdc)");
  } else if (!found.may_open_device) {
    add("this user may not open " + found.device_file +
        ": add the user to the group that owns it, often HwHiAiUser");
  }
  const std::string run = "run `source " +
                          (found.script.empty() ? std::string("<CANN>/set_env.sh") : found.script) +
                          "` before Python starts";
  if (!found.has_library) {
    add(found.script.empty()
            ? "CANN's runtime, libascendcl.so, is not installed: install CANN 8.1 or later, and " +
                  run
            : "CANN is installed, but the loader does not find its runtime, libascendcl.so: " +
                  run);
  } else if (!found.has_operators) {
    add("ASCEND_OPP_PATH is not set, so CANN does not find its operators: " + run);
  }
  return reason;
}

}  // namespace dl::ascend

#endif  // DL_ASCEND_RUNTIME_INSTALLATION_H_
