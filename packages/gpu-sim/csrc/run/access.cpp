#include "access.h"

#include "races.h"

namespace sim {
namespace {

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

const char* name_of(Space space) {
  switch (space) {
    case Space::kShared:
      return "shared";
    case Space::kLocal:
      return "local";
    case Space::kParam:
      return "parameter";
    case Space::kConst:
      return "constant";
    default:
      return "global";
  }
}

std::string said(Purpose purpose, uint32_t bytes, Space space, uint64_t address) {
  const char* verb = purpose == Purpose::kRead    ? "reads "
                     : purpose == Purpose::kWrite ? "writes "
                                                  : "updates ";
  return verb + std::to_string(bytes) + " bytes of " + name_of(space) + " memory at " +
         hex(address);
}

std::string relation(uint64_t address, const Region& near) {
  const uint64_t offset = address - near.base;
  std::string what = near.freed ? "freed memory" : "memory";
  if (!near.name.empty()) what = "'" + near.name + "'";
  if (address < near.base)
    return std::to_string(near.base - address) + " bytes before the " + std::to_string(near.size) +
           " bytes of " + what;
  if (near.freed && offset < near.size)
    return "inside " + std::to_string(near.size) + " bytes that were freed";
  if (offset < near.size)
    return std::to_string(near.size - offset) + " bytes before the end of the " +
           std::to_string(near.size) + " bytes of " + what;
  return std::to_string(offset - near.size) + " bytes after the end of the " +
         std::to_string(near.size) + " bytes of " + what;
}

const Image::Placed* nearest(const std::vector<Image::Placed>& all, uint64_t offset) {
  const auto distance = [=](const Image::Placed& each) {
    return bytes_apart(offset, each.offset, each.bytes);
  };
  const Image::Placed* found = nullptr;
  for (const Image::Placed& each : all)
    if (found == nullptr || distance(each) < distance(*found)) found = &each;
  return found;
}

bool inside(const std::vector<Image::Placed>& all, uint64_t offset, uint64_t bytes) {
  for (const Image::Placed& each : all)
    if (offset - each.offset < each.bytes && bytes <= each.bytes - (offset - each.offset))
      return true;
  return false;
}

uint8_t* out_of_bounds(Warp& warp, const Instruction& here, uint32_t lane, Space space,
                       uint64_t address, uint32_t bytes, Purpose purpose) {
  warp.launch.report(Fault::kOutOfBounds, warp, lane, here, address, [&] {
    std::string text = said(purpose, bytes, space, address);
    if (space == Space::kShared || space == Space::kLocal) {
      const Image& image = warp.launch.image();
      const auto* near = nearest(space == Space::kShared ? image.shared : image.local, address);
      if (space == Space::kShared && address >= kDynamicShared)
        return text + ": " + std::to_string(warp.launch.config().dynamic_shared) +
               " bytes of dynamic shared memory were requested";
      if (near == nullptr) return text + ": the kernel has no " + name_of(space) + " memory";
      Region region;
      region.base = near->offset;
      region.size = near->bytes;
      region.name = near->name;
      return text + ": " + relation(address, region);
    }
    const Region* near =
        DeviceMemory::is_device_address(address) ? warp.launch.memory().nearest(address) : nullptr;
    return text + ": " +
           (near == nullptr ? "this address is not in device memory" : relation(address, *near));
  });
  warp.launch.fail(Outcome::kIllegalAddress, false);
  return nullptr;
}

void uninitialised(Warp& warp, const Instruction& here, uint32_t lane, Space space,
                   uint64_t address, uint32_t bytes) {
  warp.launch.report(Fault::kUninitialised, warp, lane, here, address, [&] {
    return said(Purpose::kRead, bytes, space, address) + " that nothing has written";
  });
}

bool aligned(Warp& warp, const Instruction& here, uint32_t lane, Space space, uint64_t address,
             uint32_t bytes, Purpose purpose) {
  if ((address & (bytes - 1)) == 0) return true;
  warp.launch.report(Fault::kMisaligned, warp, lane, here, address, [&] {
    return said(purpose, bytes, space, address) + ", which is not a multiple of " +
           std::to_string(bytes);
  });
  warp.launch.fail(Outcome::kMisaligned, false);
  return false;
}

bool all_valid(const uint8_t* valid, uint32_t bytes) {
  if (bytes == 4) {
    uint32_t word;
    std::memcpy(&word, valid, sizeof word);
    return word == 0x01010101u;
  }
  for (uint32_t i = 0; i < bytes; ++i)
    if (valid[i] == 0) return false;
  return true;
}

uint8_t* reach_local(Warp& warp, const Instruction& here, uint32_t lane, uint64_t address,
                     uint32_t bytes, Purpose purpose) {
  const Image& image = warp.launch.image();
  if (!inside(image.local, address, bytes))
    return out_of_bounds(warp, here, lane, Space::kLocal, address, bytes, purpose);
  if (!aligned(warp, here, lane, Space::kLocal, address, bytes, purpose)) return nullptr;
  const size_t place = size_t{image.local_extent} * lane + address;
  uint8_t* valid = &warp.local_valid[place];
  if (purpose == Purpose::kRead && !all_valid(valid, bytes))
    uninitialised(warp, here, lane, Space::kLocal, address, bytes);
  if (purpose != Purpose::kRead) std::memset(valid, 1, bytes);
  return &warp.local[place];
}

uint8_t* reach_param(Warp& warp, const Instruction& here, uint32_t lane, uint64_t address,
                     uint32_t bytes, Purpose purpose) {
  if (address >= kFrameParams) {
    const uint64_t offset = address - kFrameParams;
    const uint64_t size = warp.group->frame->code->param_bytes;
    if (offset >= size || bytes > size - offset)
      return out_of_bounds(warp, here, lane, Space::kParam, offset, bytes, purpose);
    return warp.params_of(lane) + offset;
  }
  const auto& params = warp.launch.params();
  if (purpose != Purpose::kRead || address >= params.size() || bytes > params.size() - address)
    return out_of_bounds(warp, here, lane, Space::kParam, address, bytes, purpose);
  if (!aligned(warp, here, lane, Space::kParam, address, bytes, purpose)) return nullptr;
  return const_cast<uint8_t*>(params.data()) + address;
}

}  // namespace

uint8_t* reach(Warp& warp, const Instruction& here, uint32_t lane, Space space, uint64_t address,
               uint32_t bytes, Purpose purpose, const uint8_t* fresh) {
  constexpr uint64_t kWindow = uint64_t{1} << 32;
  if (space == Space::kGeneric) {
    if (address - kSharedWindow < kWindow) {
      space = Space::kShared;
      address -= kSharedWindow;
    } else if (address - kLocalWindow < kWindow) {
      space = Space::kLocal;
      address -= kLocalWindow;
    } else if (address - kParamWindow < kWindow) {
      space = Space::kParam;
      address -= kParamWindow;
    } else {
      space = Space::kGlobal;
    }
  }
  if (space == Space::kParam) return reach_param(warp, here, lane, address, bytes, purpose);
  if (space == Space::kLocal) return reach_local(warp, here, lane, address, bytes, purpose);
  Region* region;
  if (space == Space::kShared) {
    region = address >= kDynamicShared ? warp.block.dynamic.get() : warp.block.fixed.get();
    if (!region->holds(address, bytes) ||
        (region == warp.block.fixed.get() && !inside(warp.launch.image().shared, address, bytes)))
      return out_of_bounds(warp, here, lane, space, address, bytes, purpose);
  } else {
    Region*& likely = warp.launch.last_region(here);
    if (likely == nullptr || !likely->holds(address, bytes)) {
      Region* found = warp.launch.memory().find(address, bytes);
      if (found == nullptr) return out_of_bounds(warp, here, lane, space, address, bytes, purpose);
      likely = found;
    }
    region = likely;
    if (region->what == Region::What::kConstant && purpose != Purpose::kRead)
      return out_of_bounds(warp, here, lane, space, address, bytes, purpose);
  }
  if (!aligned(warp, here, lane, space, address, bytes, purpose)) return nullptr;
  const uint64_t offset = address - region->base;
  if (region->valid != nullptr) {
    uint8_t* valid = region->valid + offset;
    if (purpose != Purpose::kWrite && !all_valid(valid, bytes))
      uninitialised(warp, here, lane, space, address, bytes);
    if (purpose != Purpose::kRead) std::memset(valid, 1, bytes);
  }
  if (here.strong) synchronise(warp, here, space, address, purpose);
  if (region->history != nullptr)
    note_access(warp, here, lane, *region, offset, bytes, purpose, fresh);
  return region->bytes + offset;
}

}  // namespace sim
