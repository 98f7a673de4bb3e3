#include <cstring>

#include "../ptx/lexer.h"
#include "state.h"

namespace sim {

LoadedModule::LoadedModule(std::shared_ptr<Module> module, DeviceMemory& memory)
    : module_(std::move(module)), memory_(memory) {
  std::map<std::string_view, OwnedRegion*> regions;
  for (const Variable& each : module_->variables) {
    if (each.space == Space::kShared || each.external) continue;
    const auto what =
        each.space == Space::kConst ? Region::What::kConstant : Region::What::kVariable;
    OwnedRegion& region =
        memory_.allocate(each.bytes, std::max(each.align, 16u), what, std::string(each.name));
    // Variables without initial values are zero.
    std::memset(region.bytes, 0, region.size);
    std::memset(region.valid, 1, region.size);
    std::memcpy(region.bytes, each.initial.data(), each.initial.size());
    variables_[each.name] = {region.base, region.size};
    regions[each.name] = &region;
  }
  for (const Variable& each : module_->variables) {
    for (const Variable::Patch& patch : each.patches) {
      uint64_t value = address_of(patch.symbol);
      const auto routine = module_->routine_of.find(patch.symbol);
      if (value == 0 && routine != module_->routine_of.end())
        value = kFunctionWindow + static_cast<uint64_t>(routine->second);
      if (value == 0)
        throw PtxError(each.line, "'" + std::string(patch.symbol) + "' is not defined");
      value += static_cast<uint64_t>(patch.plus);
      if (const auto found = regions.find(each.name); found != regions.end())
        std::memcpy(found->second->bytes + patch.at, &value, patch.bytes);
    }
  }
}

LoadedModule::~LoadedModule() {
  for (const auto& [name, place] : variables_) memory_.free(place.first);
}

uint64_t LoadedModule::address_of(std::string_view name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? 0 : found->second.first;
}

uint64_t LoadedModule::bytes_of(std::string_view name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? 0 : found->second.second;
}

std::shared_ptr<Image> LoadedModule::image(const std::string& kernel) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<Image>& place = images_[kernel];
  if (!place) place = make_image(module_, *this, kernel);
  return place;
}

}  // namespace sim
