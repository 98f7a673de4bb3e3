#include <algorithm>
#include <cstdint>

#include "decoder.h"

namespace sim {
namespace {

void add(Image& image, const Symbols& symbols, int index) {
  std::unique_ptr<Code>& place = image.codes[index];
  if (place) return;
  place = std::make_unique<Code>();
  Code& code = *place;
  code.routine = &image.module->routines[static_cast<size_t>(index)];
  if (!code.routine->defined) return;
  Decoder(image, code, symbols).run();
  for (const Instruction& each : code.body)
    if (each.flow == Flow::kCall && each.target >= 0) add(image, symbols, each.target);
}

bool calls_pointers(const Image& image) {
  return std::any_of(image.codes.begin(), image.codes.end(),
                     [](const auto& each) { return each.second->calls_pointers; });
}

}  // namespace

std::shared_ptr<Image> make_image(std::shared_ptr<Module> module, const Symbols& symbols,
                                  std::string_view kernel) {
  auto image = std::make_shared<Image>();
  const auto found = module->routine_of.find(kernel);
  if (found == module->routine_of.end() ||
      !module->routines[static_cast<size_t>(found->second)].defined)
    throw PtxError(0, "there is no kernel '" + std::string(kernel) + "'");
  image->module = std::move(module);
  image->entry = found->second;
  add(*image, symbols, image->entry);
  // Every function whose address is taken may be called.
  if (calls_pointers(*image)) {
    for (size_t i = 0; i < image->module->routines.size(); ++i)
      if (!image->module->routines[i].entry) add(*image, symbols, static_cast<int>(i));
  }
  return image;
}

}  // namespace sim
