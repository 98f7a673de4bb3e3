#include "runtime/driver.h"

#include <unistd.h>

#include <cstdlib>
#include <mutex>

#include "dl/kit/named_driver.h"
#include "dl/kit/presence.h"
#include "runtime/installation.h"

namespace dl::ascend {
namespace {

const std::vector<std::string> kLibraries = {"libascendcl.so", "libacl_rt.so"};
const std::string kDeviceFile = "/dev/davinci_manager";
// Where installers of CANN put set_env.sh, relative to the root or the home folder.
const char* const kScripts[] = {"Ascend/ascend-toolkit/set_env.sh", "Ascend/cann/set_env.sh",
                                "Ascend/nnrt/set_env.sh"};

const kit::NamedDriver& named_driver() {
  static const kit::NamedDriver named("DL_ASCEND_DRIVER");
  return named;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string find_script() {
  for (const std::string& root : {std::string("/usr/local"), variable("HOME")}) {
    for (const char* const script : kScripts) {
      const std::string path = root + "/" + script;
      if (kit::any_path({path})) return path;
    }
  }
  return {};
}

[[noreturn]] void refuse(const std::string& reason) { throw kit::Error(DL_UNAVAILABLE, reason); }

struct Name {
  acl::Code code;
  const char* name;
};
const Name kCodes[] = {
    {100000, "ACL_ERROR_INVALID_PARAM"},
    {100001, "ACL_ERROR_UNINITIALIZE"},
    {107000, "ACL_ERROR_RT_PARAM_INVALID"},
    {107001, "ACL_ERROR_RT_INVALID_DEVICEID"},
    {107002, "ACL_ERROR_RT_CONTEXT_NULL"},
    {107003, "ACL_ERROR_RT_STREAM_CONTEXT"},
    {107008, "ACL_ERROR_RT_ADDR_UNALIGNED"},
    {107017, "ACL_ERROR_RT_INVALID_HANDLE"},
    {107019, "ACL_ERROR_RT_WAIT_TIMEOUT"},
    {107020, "ACL_ERROR_RT_TASK_TIMEOUT"},
    {107024, "ACL_ERROR_RT_CAPTURE_DEPENDENCY"},
    {107025, "ACL_ERROR_RT_STREAM_UNJOINED"},
    {107027, "ACL_ERROR_RT_STREAM_CAPTURED"},
    {107028, "ACL_ERROR_RT_EVENT_CAPTURED"},
    {107029, "ACL_ERROR_RT_STREAM_NOT_CAPTURED"},
    {107030, "ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT"},
    {107036, "ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED"},
    {107041, "ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC"},
    {200000, "ACL_ERROR_BAD_ALLOC"},
    {207000, "ACL_ERROR_RT_FEATURE_NOT_SUPPORT"},
    {207001, "ACL_ERROR_RT_MEMORY_ALLOCATION"},
    {207004, "ACL_ERROR_RT_NO_DEVICE"},
    {207006, "ACL_ERROR_RT_NO_PERMISSION"},
    {207018, "ACL_ERROR_RT_DEVICE_OOM"},
    {500000, "ACL_ERROR_INTERNAL_ERROR"},
    {507000, "ACL_ERROR_RT_INTERNAL_ERROR"},
    {507008, "ACL_ERROR_RT_SOC_VERSION"},
    {507010, "ACL_ERROR_RT_LOST_HEARTBEAT"},
    {507014, "ACL_ERROR_RT_AICORE_TIMEOUT"},
    {507015, "ACL_ERROR_RT_AICORE_EXCEPTION"},
    {507018, "ACL_ERROR_RT_AICPU_EXCEPTION"},
    {507033, "ACL_ERROR_RT_DEV_SETUP_ERROR"},
    {507035, "ACL_ERROR_RT_VECTOR_CORE_EXCEPTION"},
    {507046, "ACL_ERROR_RT_STREAM_SYNC_TIMEOUT"},
    {507053, "ACL_ERROR_RT_DEVICE_MEM_ERROR"},
    {507054, "ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR"},
    {507899, "ACL_ERROR_RT_DRV_INTERNAL_ERROR"},
    {507903, "ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED"},
};

void start() {
  acl::Driver& driver = the_driver();
  if (const char* function = driver.missing())
    refuse(driver.opened() + " has no function " + function +
           ": it is older than CANN 8.1; install a later CANN");
  // Only the first caller in the process initializes the runtime.
  const acl::Code failed = driver.init(nullptr);
  if (failed != acl::kSuccess && failed != acl::kRepeatedInitialize)
    refuse("CANN's runtime does not initialize: " + describe(failed) +
           "; `npu-smi info` must work first");
  // Request results that do not change from run to run, as on other vendors. Optional: a release
  // without this option is used as it is.
  if (driver.set_option.available() && driver.set_option(acl::kDeterministic, 1) != acl::kSuccess)
    (void)take_error_text();
}

}  // namespace

acl::Driver& the_driver() {
  static acl::Driver found(named_driver().or_else(kLibraries));
  return found;
}

bool names_driver() { return named_driver().is_given(); }

std::string absence() {
  // If the user named a driver, a failure must not be silent: counting its devices reports it.
  if (names_driver()) return {};
  Installation found;
  found.device_file = kDeviceFile;
  found.has_device = kit::any_path({kDeviceFile});
  found.may_open_device = access(kDeviceFile.c_str(), R_OK | W_OK) == 0;
  found.has_library = !kit::find_library(kLibraries).empty();
  found.has_operators = !variable("ASCEND_OPP_PATH").empty();
  found.script = find_script();
  return why_absent(found);
}

acl::Code count_devices(int* count) {
  static std::mutex mutex;
  static bool started = false;
  const std::lock_guard<std::mutex> lock(mutex);
  if (!started) start();
  started = true;
  uint32_t found = 0;
  const acl::Code failed = the_driver().device_count(&found);
  *count = static_cast<int>(found);
  return failed == acl::kSuccess && found == 0 ? acl::Code(acl::kNoDevice) : failed;
}

std::string code_name(acl::Code code) {
  std::string name = "an error of CANN's runtime";
  for (const Name& known : kCodes) {
    if (known.code == code) name = known.name;
  }
  return name + " (" + std::to_string(code) + ")";
}

const char* remedy(acl::Code code) {
  switch (code) {
    case acl::kLostHeartbeat:
    case acl::kDriverFailure:
      return "; the device does not respond, and the process must be restarted (`npu-smi info` "
             "shows whether the NPU is healthy)";
    case acl::kAicoreException:
      return "; a kernel failed on the device, perhaps because of an invalid index "
             "(ASCEND_LAUNCH_BLOCKING=1 shows which one)";
    case acl::kCaptureUnsupported:
    case acl::kCaptureBlocks:
      return "; an operator that waits for the device cannot be captured in a graph: call it "
             "before or after the capture";
    case acl::kNoDevice:
      return "; ASCEND_RT_VISIBLE_DEVICES may hide the available ones, or another container uses "
             "them";
    default:
      return "";
  }
}

std::string take_error_text() {
  constexpr size_t kMost = 2000;
  const char* const recent = the_driver().take_error();
  std::string text = recent == nullptr ? "" : recent;
  if (text.size() > kMost) text.resize(kMost);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

std::string describe(acl::Code code) {
  const std::string text = take_error_text();
  return code_name(code) + (text.empty() ? "" : ": " + text) + remedy(code);
}

}  // namespace dl::ascend
