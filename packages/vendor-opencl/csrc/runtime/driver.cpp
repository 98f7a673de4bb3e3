#include "runtime/driver.h"

#include <dirent.h>

#include <cstdlib>
#include <utility>

#include "dl/kit/presence.h"
#include "dl/trust.hpp"

namespace dl::opencl {
namespace {

constexpr const char* kVariable = "DL_OPENCL_DRIVER";
constexpr const char* kLoader = "libOpenCL.so.1";
// Where the loader finds the names of drivers.
constexpr const char* kRegistry = "/etc/OpenCL/vendors";

std::string setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> split(const std::string& list, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(separator, begin), list.size());
    if (end > begin) parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool has_icd_file(const std::string& folder) {
  DIR* const opened = opendir(folder.c_str());
  if (opened == nullptr) return false;
  bool found = false;
  while (const dirent* entry = readdir(opened)) found |= ends_with(entry->d_name, ".icd");
  closedir(opened);
  return found;
}

// Intel's CPU runtime from PyPI, whose files are in the lib folder of the Python environment.
std::string intel_wheel() {
  const std::string path = kit::own_folder() + "/../../../../libintelocl.so";
  return kit::any_path({path}) && Installation(kit::own_folder()).trusts(path) ? path : "";
}

// Throws for a path that is not absolute, is missing, or could have been put there by other users.
void check_path(const std::string& path) {
  const std::string shown = std::string(kVariable) + " names '" + path.substr(0, 200) + "', which ";
  if (path[0] != '/')
    throw kit::Error(DL_UNAVAILABLE,
                     shown + "is not an absolute path; set one, or unset the variable");
  if (!kit::any_path({path}))
    throw kit::Error(DL_UNAVAILABLE,
                     shown + "does not exist; set another driver, or unset the variable");
  if (!Installation(kit::own_folder()).trusts(path))
    throw kit::Error(DL_UNAVAILABLE,
                     shown +
                         "is not loaded, because other users could have put it there; use a "
                         "driver in a folder that only you can write to");
}

// Returns true if the loader knows a driver. It reads OCL_ICD_FILENAMES and OCL_ICD_VENDORS too.
bool loader_knows_driver() {
  if (!setting("OCL_ICD_FILENAMES").empty()) return true;
  const std::string registry = setting("OCL_ICD_VENDORS");
  if (registry.empty()) return has_icd_file(kRegistry);
  return ends_with(registry, ".icd") || ends_with(registry, ".so") || has_icd_file(registry);
}

}  // namespace

Driver::Driver(std::string path)
    : Library({std::move(path)}, "OpenCL driver",
              "install the loader and a driver (on Debian: apt-get install ocl-icd-libopencl1 and "
              "the driver of the device, such as intel-opencl-icd or pocl-opencl-icd)") {}

const std::vector<std::unique_ptr<Driver>>& drivers() {
  static const std::vector<std::unique_ptr<Driver>> found = [] {
    std::vector<std::unique_ptr<Driver>> all;
    const std::vector<std::string> named = split(setting(kVariable), ':');
    for (const std::string& path : named) {
      check_path(path);
      all.push_back(std::make_unique<Driver>(path));
    }
    if (!named.empty()) return all;
    const std::string wheel = intel_wheel();
    // Without a registered driver the loader finds no platform, and may be missing altogether.
    if (wheel.empty() || loader_knows_driver()) all.push_back(std::make_unique<Driver>(kLoader));
    if (!wheel.empty()) all.push_back(std::make_unique<Driver>(wheel));
    return all;
  }();
  return found;
}

std::string absence() {
  // If the user named a driver, a failure must not be silent: counting its devices reports it.
  if (!setting(kVariable).empty() || !intel_wheel().empty()) return {};
  std::string reason;
  if (kit::find_library({kLoader}).empty())
    reason = std::string("OpenCL's loader ") + kLoader +
             " is not installed (on Debian: apt-get install ocl-icd-libopencl1)";
  if (!loader_knows_driver()) {
    const std::string registry = setting("OCL_ICD_VENDORS");
    reason += std::string(reason.empty() ? "" : "; and ") +
              "no driver is installed: " + (registry.empty() ? kRegistry : registry) +
              " has no .icd file (install the driver of the device, or a CPU runtime: pip install "
              "intel-opencl-rt intel-cmplr-lib-rt tbb)";
  }
  return reason;
}

}  // namespace dl::opencl
