// Facts about the Neuware SDK and the MLUs of a machine, and the reason if they cannot be used.
#ifndef DL_CAMBRICON_RUNTIME_INSTALLATION_H_
#define DL_CAMBRICON_RUNTIME_INSTALLATION_H_

#include <string>

namespace dl::cambricon {

struct Installation {
  std::string device_file;  // of the kernel driver
  bool has_device = false;
  bool may_open_device = false;
  bool has_library = false;  // the loader finds the runtime library
  std::string root;          // folder of an installed SDK; empty if none was found
};

// Returns why there is no usable MLU, with the remedy; empty if one seems to be present.
inline std::string why_absent(const Installation& found) {
  std::string reason;
  const auto add = [&reason](const std::string& text) {
    reason += (reason.empty() ? "" : "; and ") + text;
  };
  if (!found.has_device) {
    add("there is no Cambricon MLU, or its kernel driver is not loaded: " + found.device_file +
        " does not exist (containers need --device=/dev/cambricon_ctl "
        "--device=/dev/cambricon_dev0)");
  } else if (!found.may_open_device) {
    add("this user may not open " + found.device_file + ": add the user to the group that owns it");
  }
  if (!found.has_library) {
    add(found.root.empty()
            ? "Cambricon's runtime, libcnrt.so, is not installed: install the Cambricon Neuware "
              "SDK, and set NEUWARE_HOME to its folder"
            : "the Cambricon Neuware SDK is installed, but its runtime is not found: run "
              "`export NEUWARE_HOME=" +
                  found.root + "` before Python starts");
  }
  return reason;
}

}  // namespace dl::cambricon

#endif  // DL_CAMBRICON_RUNTIME_INSTALLATION_H_
