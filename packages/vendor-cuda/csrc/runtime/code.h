// Compatibility of this library's device code with GPUs and drivers. The build defines
// DL_CUDA_CODE, such as "sm_80 sm_90 compute_90".
#ifndef DL_CUDA_RUNTIME_CODE_H_
#define DL_CUDA_RUNTIME_CODE_H_

#include <algorithm>
#include <string>
#include <utility>

namespace dl::cuda {

// Encodes a compute capability: 8.6 is 86.
inline int number_of(int major, int minor) { return 10 * major + minor; }

class DeviceCode {
 public:
  // `list`: names of architectures, separated by spaces.
  explicit DeviceCode(std::string list) : list_(std::move(list)) {}

  // Machine code runs on later GPUs of the same major version, PTX on all later ones.
  bool runs_on(int capability) const {
    bool runs = false;
    each([&](bool machine_code, int built) {
      const bool same_generation = built / 10 == capability / 10;
      runs = runs || (built <= capability && (!machine_code || same_generation));
    });
    return runs;
  }

  // The lowest CUDA version (13000 is 13.0) of a driver that can run the code of this compiler:
  // machine code needs the compiler's major version; PTX needs a driver at least as new as the
  // compiler.
  int needed_version(int compiler) const {
    bool only_ptx = true;
    each([&](bool machine_code, int) { only_ptx = only_ptx && !machine_code; });
    return only_ptx ? compiler : compiler / 1000 * 1000;
  }

  const std::string& list() const { return list_; }

 private:
  template <class F>
  void each(const F& f) const {
    for (size_t at = 0; at < list_.size();) {
      const size_t end = std::min(list_.find(' ', at), list_.size());
      const std::string name = list_.substr(at, end - at);
      f(name.rfind("sm_", 0) == 0, std::stoi(name.substr(name.find('_') + 1)));
      at = end + 1;
    }
  }

  std::string list_;
};

}  // namespace dl::cuda

#endif  // DL_CUDA_RUNTIME_CODE_H_
