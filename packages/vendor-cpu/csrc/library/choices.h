// Selection of the implementation that serves a call: the choices of this vendor for the choices
// extension (dl/kit/choices.h).
#ifndef DL_CPU_LIBRARY_CHOICES_H_
#define DL_CPU_LIBRARY_CHOICES_H_

#include <cstdint>
#include <string>

#include "dl/kit/choices.h"
#include "dl_kernels/parallel/launch.h"

namespace dl::cpu::choices {

enum class Implementation : int32_t { kDefault, kOneDnn, kOneDnnOther, kOpenBlas, kOwn };

struct Choices {
  enum class Point : int32_t { kGemm, kConvolve, kInputGradient, kWeightGradient };
  static constexpr const char* kPoints[] = {"gemm", "convolution", "convolution_input_gradient",
                                            "convolution_weight_gradient"};
  struct Choice {
    Implementation implementation = Implementation::kDefault;
    bool one_thread = false;
  };
  static bool parse(Point point, const std::string& name, Choice* choice);
};

using Choice = Choices::Choice;
using Key = kit::ChoiceKey;
using Point = Choices::Point;
using Table = kit::ChoiceTable<Choices>;

// Space-separated names of candidates, each also with a single-threaded variant if there are
// several threads.
class CandidateNames {
 public:
  explicit CandidateNames(int64_t threads) : twins_(threads > 1) {}
  void add(const char* name, bool has_twin = true);
  const std::string& text() const { return text_; }

 private:
  const bool twins_;
  std::string text_;
};

// For the duration of a call, libraries use one thread.
class OneThread {
 public:
  explicit OneThread(bool wanted);
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

  static int64_t threads(const kernels::Launch& launch);

 private:
  const bool before_;
};

}  // namespace dl::cpu::choices

#endif  // DL_CPU_LIBRARY_CHOICES_H_
