#include "library/choices.h"

#include <algorithm>
#include <iterator>

namespace dl::cpu::choices {
namespace {

struct Named {
  const char* name;
  Implementation implementation;
};
constexpr Named kGemmNames[] = {{"onednn", Implementation::kOneDnn},
                                {"onednn-packed", Implementation::kOneDnnOther},
                                {"openblas", Implementation::kOpenBlas},
                                {"own", Implementation::kOwn}};
constexpr Named kConvolutionNames[] = {{"onednn", Implementation::kOneDnn},
                                       {"onednn-given", Implementation::kOneDnnOther},
                                       {"own", Implementation::kOwn}};

thread_local bool one_thread = false;

}  // namespace

bool Choices::parse(Point point, const std::string& name, Choice* choice) {
  const size_t slash = name.find('/');
  const std::string wanted = name.substr(0, slash);
  if (slash != std::string::npos && (name.substr(slash) != "/1" || wanted == "own")) return false;
  const bool gemm = point == Point::kGemm;
  const Named* const first = gemm ? std::begin(kGemmNames) : std::begin(kConvolutionNames);
  const Named* const last = gemm ? std::end(kGemmNames) : std::end(kConvolutionNames);
  const Named* const found =
      std::find_if(first, last, [&](const Named& one) { return wanted == one.name; });
  if (found == last) return false;
  *choice = {found->implementation, slash != std::string::npos};
  return true;
}

OneThread::OneThread(bool wanted) : before_(one_thread) { one_thread |= wanted; }
OneThread::~OneThread() { one_thread = before_; }
int64_t OneThread::threads(const kernels::Launch& launch) {
  return one_thread ? 1 : launch.threads();
}

void CandidateNames::add(const char* name, bool has_twin) {
  const std::string gap = text_.empty() ? "" : " ";
  text_ += gap + name;
  if (twins_ && has_twin) text_ += std::string(" ") + name + "/1";
}

}  // namespace dl::cpu::choices
