#include "extensions/choices.h"

#include <cstdlib>
#include <functional>

#include "dl_kernels/gpu/product_plan.h"
#include "runtime/queue.h"
#include "runtime/vendor.h"

namespace dl::opencl {
namespace {

using kernels::gpu::ProductCall;
using kernels::gpu::ProductPlan;
using Choice = Choices::Choice;
using Table = kit::ChoiceTable<Choices>;

constexpr int32_t kMostPieces = 32;
constexpr const char* kSmall = "small";
constexpr const char* kLarge = "large";

std::string name_of(const ProductPlan& plan) {
  std::string name = plan.large ? kLarge : kSmall;
  if (plan.pieces > 1) name += "/" + std::to_string(plan.pieces);
  return name;
}

// Names of the candidate plans. The first one is the plan that the heuristic chose, `usual`.
std::string candidates(const ProductCall& call, const ProductPlan& usual) {
  // Bounds the workspace, which holds a partial product for each piece.
  constexpr int64_t kMostElements = int64_t(1) << 24;
  std::string names = name_of(usual);
  for (const bool large : {false, true}) {
    if (large && !call.has_large) break;
    for (int64_t pieces = 1; pieces <= std::min<int64_t>(call.most_pieces, kMostPieces);
         pieces *= 2) {
      if (pieces > 1 && call.batch * call.m * call.n * pieces > kMostElements) break;
      if (large == usual.large && pieces == usual.pieces) continue;
      names += " " + name_of({large, pieces});
    }
  }
  return names;
}

kit::ChoiceKey key_of(const ProductCall& call, const Device& device) {
  kit::ChoiceKey key(Choices::Point::kProduct);
  // All devices of a process share the table.
  const size_t identity = std::hash<std::string>()(device.identity());
  for (const int64_t value :
       {static_cast<int64_t>(identity), int64_t{call.dtype}, int64_t{call.tf32}, call.batch, call.m,
        call.n, call.k, int64_t{call.a.along_depth}, int64_t{call.a.whole},
        int64_t{call.b.along_depth}, int64_t{call.b.whole}})
    key.add(value);
  return key;
}

ProductPlan select(const ProductCall& call, const ProductPlan& usual) {
  if (!Table::is_active()) return usual;
  const Device& device = Queue::of(call.stream).device();
  const Choice choice =
      Table::choose(key_of(call, device), [&] { return candidates(call, usual); });
  if (choice.tile == Choice::kUsual) return usual;
  return {choice.tile == Choice::kLarge, choice.pieces};
}

}  // namespace

bool Choices::parse(Point, const std::string& name, Choice* choice) {
  const size_t slash = name.find('/');
  const std::string tile = name.substr(0, slash);
  if (tile != kSmall && tile != kLarge) return false;
  int32_t pieces = 1;
  if (slash != std::string::npos) {
    const std::string digits = name.substr(slash + 1);
    if (digits.empty() || digits.size() > 3 ||
        digits.find_first_not_of("0123456789") != std::string::npos)
      return false;
    pieces = static_cast<int32_t>(std::strtol(digits.c_str(), nullptr, 10));
    if (pieces < 2) return false;
  }
  *choice = {tile == kLarge ? Choice::kLarge : Choice::kSmall, pieces};
  return true;
}

void install_choices() { kernels::gpu::select_product = select; }

std::string Vendor::choice_identity(int32_t device) {
  const Device& found = Devices::here().at(device);
  const DeviceFacts& facts = found.facts();
  return std::string("opencl ") + kVersion + ", " + facts.platform + ", " + facts.name + ", " +
         std::to_string(facts.compute_units) + " compute units, " + facts.version + ", driver " +
         facts.driver_version;
}

}  // namespace dl::opencl
