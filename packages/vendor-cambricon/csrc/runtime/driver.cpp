#include "runtime/driver.h"

#include <unistd.h>

#include <cstdlib>

#include "dl/kit/named_driver.h"
#include "dl/kit/presence.h"
#include "runtime/installation.h"

namespace dl::cambricon {
namespace {

const std::string kLibrary = "libcnrt.so";
const std::string kDeviceFile = "/dev/cambricon_ctl";
const std::string kUsualRoot = "/usr/local/neuware";

const kit::NamedDriver& named_driver() {
  static const kit::NamedDriver named("DL_CAMBRICON_DRIVER");
  return named;
}

struct Name {
  cnrt::Code code;
  const char* name;
};
const Name kCodes[] = {
    {cnrt::kNotReady, "cnrtErrorNotReady"},
    {cnrt::kInitFailed, "cnrtErrorInit"},
    {cnrt::kNoDevice, "cnrtErrorNoDevice"},
    {cnrt::kInvalidDevice, "cnrtErrorDeviceInvalid"},
    {cnrt::kInvalidArgument, "cnrtErrorArgsInvalid"},
    {cnrt::kSystemError, "cnrtErrorSys"},
    {cnrt::kHostOutOfMemory, "cnrtErrorSysNoMem"},
    {cnrt::kInvalidHandle, "cnrtErrorInvalidResourceHandle"},
    {cnrt::kOutOfMemory, "cnrtErrorNoMem"},
    {cnrt::kKernelTrap, "cnrtErrorKernelTrap"},
    {cnrt::kWrongDirection, "cnrtErrorMemcpyDirectionInvalid"},
    {cnrt::kDriverCallFailed, "cnrtErrorCndrvFuncCall"},
};

// Returns the remedy for an error, as the end of a sentence; empty if unknown.
const char* remedy(cnrt::Code code) {
  switch (code) {
    case cnrt::kNoDevice:
      return "; MLU_VISIBLE_DEVICES may hide the available ones, or another container uses them";
    case cnrt::kInitFailed:
      return "; `cnmon` must work first: the kernel driver may be older than the SDK supports";
    case cnrt::kDriverCallFailed:
      return "; `cnmon` must work, and the process must be restarted";
    case cnrt::kKernelTrap:
      return "; a kernel failed on the device, perhaps because of an invalid index, and the "
             "process "
             "must be restarted";
    default:
      return "";
  }
}

}  // namespace

std::string neuware_home() {
  const char* const given = std::getenv("NEUWARE_HOME");
  if (given != nullptr && *given != '\0') return given;
  return kit::any_path({kUsualRoot}) ? kUsualRoot : "";
}

std::vector<std::string> library_names(const std::string& soname) {
  std::vector<std::string> names;
  const std::string root = neuware_home();
  // Other values than absolute paths would depend on the current folder.
  if (!root.empty() && root[0] == '/') {
    const std::string path = root + "/lib64/" + soname;
    if (kit::any_path({path})) names.push_back(path);
  }
  names.push_back(soname);
  return names;
}

cnrt::Driver& the_driver() {
  static cnrt::Driver found(named_driver().or_else(library_names(kLibrary)));
  return found;
}

std::string absence() {
  // If the user named a driver, a failure must not be silent: counting its devices reports it.
  if (named_driver().is_given()) return {};
  Installation found;
  found.device_file = kDeviceFile;
  found.has_device = kit::any_path({kDeviceFile});
  found.may_open_device = access(kDeviceFile.c_str(), R_OK | W_OK) == 0;
  found.has_library = !kit::find_library(library_names(kLibrary)).empty();
  found.root = neuware_home();
  return why_absent(found);
}

cnrt::Code count_devices(int* count) {
  cnrt::Driver& driver = the_driver();
  if (const char* function = driver.missing())
    throw kit::Error(DL_UNAVAILABLE, driver.opened() + " has no function " + function +
                                         ": its release is not supported; install Neuware 1.13 or "
                                         "later, with CNRT 6");
  unsigned found = 0;
  const cnrt::Code failed = driver.device_count(&found);
  *count = static_cast<int>(found);
  return failed == cnrt::kSuccess && found == 0 ? cnrt::Code(cnrt::kNoDevice) : failed;
}

std::string describe(cnrt::Code code) {
  std::string name = "an error of CNRT";
  for (const Name& known : kCodes) {
    if (known.code == code) name = known.name;
  }
  const char* const text = the_driver().error_text(code);
  return name + " (" + std::to_string(code) + ")" +
         (text == nullptr || *text == '\0' ? "" : std::string(": ") + text) + remedy(code);
}

}  // namespace dl::cambricon
