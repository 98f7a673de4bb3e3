#include "settings.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

// The linker defines symbols for both ends of the section that DL_COUNTED fills.
extern "C" {
extern const char* const __start_dl_gpu_sim_calls[] __attribute__((visibility("hidden")));
extern const char* const __stop_dl_gpu_sim_calls[] __attribute__((visibility("hidden")));
}

namespace sim {
namespace {

constexpr std::string_view kPrefix = "DL_GPU_SIM_";
// An address has 48 bits for the offset in a device's memory, of which one is unused.
constexpr uint64_t kMostMemory = uint64_t{1} << 47;

std::optional<uint64_t> whole(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return {};
  errno = 0;
  const uint64_t value = std::strtoull(text.c_str(), nullptr, 10);
  if (errno == ERANGE) return {};
  return value;
}

/** Reader of the variables, which collects errors about invalid values. */
class Reader {
 public:
  Reader(const char* const* environment, std::vector<std::string>& problems) : problems_(problems) {
    for (; *environment != nullptr; ++environment) {
      const std::string_view one = *environment;
      if (one.substr(0, kPrefix.size()) != kPrefix) continue;
      const size_t equals = std::min(one.find('='), one.size());
      given_[std::string(one.substr(0, equals))] = one.substr(std::min(equals + 1, one.size()));
    }
  }

  void number(const char* name, uint64_t least, uint64_t most, uint64_t& value) {
    const std::string text = take(name);
    if (text.empty()) return;
    const auto found = whole(text);
    if (found && *found >= least && *found <= most) {
      value = *found;
    } else {
      refuse(name, text,
             "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
  }

  void bytes(const char* name, uint64_t& value) {
    const std::string text = take(name);
    if (text.empty()) return;
    const size_t unit = std::string_view("KMG").find(text.back());
    const bool has_unit = unit != std::string_view::npos;
    const unsigned shift = has_unit ? 10 * (static_cast<unsigned>(unit) + 1) : 0;
    const auto found = whole(has_unit ? text.substr(0, text.size() - 1) : text);
    if (found && *found > 0 && *found <= kMostMemory >> shift) {
      value = *found << shift;
    } else {
      refuse(name, text, "a number of bytes from 1 to 131072G, which may end in K, M or G");
    }
  }

  /** Read a version such as "8.6". */
  void version(const char* name, int least, int most, const std::string& allowed, int& major,
               int& minor) {
    const std::string text = take(name);
    if (!text.empty()) version(name, text, least, most, allowed, major, minor);
  }

  /** Read compute capabilities, such as "6.1,8.0". */
  void capabilities(const char* name, std::vector<int>& values) {
    std::vector<int> found;
    for (const std::string& one : items(take(name))) {
      int major = 0, minor = 0;
      version(name, one, 5, 12, "a compute capability from 5.0 to 12.9, as 8.0", major, minor);
      found.push_back(10 * major + minor);
    }
    if (!found.empty()) values = std::move(found);
  }

  void version(const char* name, const std::string& text, int least, int most,
               const std::string& allowed, int& major, int& minor) {
    const size_t dot = std::min(text.find('.'), text.size());
    const auto first = whole(text.substr(0, dot));
    const auto second = whole(text.substr(std::min(dot + 1, text.size())));
    if (first && second && *first <= 99 && *second <= 9 && static_cast<int>(*first) >= least &&
        static_cast<int>(*first) <= most) {
      major = static_cast<int>(*first);
      minor = static_cast<int>(*second);
    } else {
      refuse(name, text, allowed);
    }
  }

  void report(const char* name, std::string& path) {
    const std::string text = take(name);
    if (text.empty()) return;
    path = text;
    if (const size_t place = path.find("%p"); place != std::string::npos)
      path.replace(place, 2, std::to_string(getpid()));
    const size_t slash = path.rfind('/');
    const std::string folder =
        slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
    struct stat found{};
    if (stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) {
      refuse(name, text, "the path of a file, but it is a folder");
    } else if (access(folder.c_str(), W_OK | X_OK) != 0) {
      refuse(name, text,
             "a file in a folder that can be written to: " + folder + ": " + std::strerror(errno));
    }
  }

  /** Read calls that fail, such as "cuMemAlloc:3,cuLaunchKernel=700". */
  void failures(const char* name, Failures& all) {
    for (const std::string& one : items(take(name))) {
      const size_t mark = std::min(one.find_first_of(":="), one.size());
      const bool every = one[mark] == '=';
      const std::string call = one.substr(0, mark);
      const auto value =
          mark == one.size() ? std::optional<uint64_t>(1) : whole(one.substr(mark + 1));
      if (!value || *value == 0 || (every && *value > 999)) {
        refuse(name, one,
               "a function and the index of the failing call, from 1: cuMemAlloc:3; or a function "
               "and the error of all its calls, up to 999: cuLaunchKernel=700");
      } else if (!std::any_of(__start_dl_gpu_sim_calls, __stop_dl_gpu_sim_calls,
                              [&](const char* each) { return call == each; })) {
        refuse(name, one,
               "a function of this driver, without a suffix such as _v2: "
               "cuMemAlloc:3");
      } else if (every) {
        all.errors[call] = static_cast<int>(*value);
      } else {
        all.calls[call].insert(*value);
      }
    }
  }

  /** Reject unknown variables with the prefix DL_GPU_SIM_. */
  void refuse_others() {
    for (const auto& [name, value] : given_)
      if (known_.count(name) == 0)
        problems_.push_back(name + ": unknown setting; settings are " + known_names());
  }

 private:
  static std::vector<std::string> items(const std::string& text) {
    std::vector<std::string> found;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      found.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    return found;
  }

  std::string take(const char* name) {
    known_.insert(name);
    const auto found = given_.find(name);
    return found == given_.end() ? "" : found->second;
  }

  void refuse(const std::string& name, const std::string& value, const std::string& allowed) {
    problems_.push_back(name + "=" + value + ": it has to be " + allowed);
  }

  std::string known_names() const {
    std::string made;
    for (const std::string& each : known_) made += (made.empty() ? "" : ", ") + each;
    return made;
  }

  std::vector<std::string>& problems_;
  std::map<std::string, std::string> given_;
  std::set<std::string> known_;
};

/** Return a device's UUID in the form of nvidia-smi: "GPU-646c2d67-…". */
std::string uuid_text(int device) {
  std::string made = "GPU";
  const std::array<char, 16> bytes = uuid_of(device);
  for (size_t i = 0; i < bytes.size(); ++i) {
    char text[4];
    const bool part = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    std::snprintf(text, sizeof text, "%s%02x", part ? "-" : "", static_cast<uint8_t>(bytes[i]));
    made += text;
  }
  return made;
}

/** Read visible devices as CUDA does: an unknown one ends the list, a repeated one empties it. */
std::vector<int> visible_devices(const char* const* environment, int devices) {
  constexpr std::string_view kName = "CUDA_VISIBLE_DEVICES=";
  std::vector<int> found;
  for (; *environment != nullptr; ++environment)
    if (std::string_view(*environment).substr(0, kName.size()) == kName) break;
  if (*environment == nullptr) {
    for (int i = 0; i < devices; ++i) found.push_back(i);
    return found;
  }
  const std::string text = *environment + kName.size();
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    std::string one = text.substr(begin, end - begin);
    begin = end + 1;
    one.erase(std::remove(one.begin(), one.end(), ' '), one.end());
    int device = 0;
    const auto number = whole(one);
    const auto named = [&](int each) {
      return number ? *number == static_cast<uint64_t>(each)
                    : one.size() > 4 && uuid_text(each).compare(0, one.size(), one) == 0;
    };
    while (device < devices && !named(device)) ++device;
    if (device == devices) break;
    if (std::find(found.begin(), found.end(), device) != found.end()) return {};
    found.push_back(device);
  }
  return found;
}

}  // namespace

std::array<char, 16> uuid_of(int device) {
  std::array<char, 16> bytes = {"dl-gpu-sim"};
  bytes[15] = static_cast<char>(device);
  return bytes;
}

Settings Settings::read(const char* const* environment) {
  Settings made;
  Reader reader(environment, made.problems);
  uint64_t devices = 1, strict = 0;
  reader.number("DL_GPU_SIM_DEVICES", 0, 64, devices);
  reader.bytes("DL_GPU_SIM_MEMORY", made.memory);
  reader.capabilities("DL_GPU_SIM_CAPABILITY", made.capabilities);
  int release = made.version / 1000, update = made.version % 1000 / 10;
  reader.version("DL_GPU_SIM_CUDA", 1, 99, "a release of CUDA, as 13.5", release, update);
  reader.number("DL_GPU_SIM_SEED", 0, UINT64_MAX, made.seed);
  reader.number("DL_GPU_SIM_STEPS", 1, UINT64_MAX, made.budget);
  reader.number("DL_GPU_SIM_STRICT", 0, 1, strict);
  reader.failures("DL_GPU_SIM_FAIL", made.failures);
  reader.report("DL_GPU_SIM_REPORT", made.report);
  reader.refuse_others();
  made.devices = static_cast<int>(devices);
  made.visible = visible_devices(environment, made.devices);
  made.strict = strict != 0;
  made.version = release * 1000 + update * 10;
  return made;
}

const Settings& Settings::get() {
  static const Settings* const kSettings = new Settings(read(environ));
  return *kSettings;
}

std::string Settings::problem() const {
  std::string made;
  for (const std::string& each : problems) made += (made.empty() ? "" : "\n") + each;
  return made;
}

}  // namespace sim
