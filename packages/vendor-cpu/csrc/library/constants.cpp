#include "library/constants.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

namespace dl::cpu::constants {
namespace {

struct PackedKey {
  Packing packing;
  const void* memory;

  bool operator==(const PackedKey& other) const {
    return memory == other.memory && packing.given == other.packing.given &&
           packing.packed == other.packing.packed;
  }
};

struct PackedHash {
  size_t operator()(const PackedKey& key) const {
    const auto both = static_cast<uintptr_t>(key.packing.given << 16 ^ key.packing.packed);
    return both ^ reinterpret_cast<uintptr_t>(key.memory);
  }
};

// Registry of the library in this process, never destroyed: calls may still run while it is
// unloaded.
struct Registry {
  std::shared_mutex mutex;
  // Number of declarations of each range, by its beginning and size.
  std::map<std::pair<uintptr_t, uint64_t>, uint64_t> ranges;
  std::unordered_map<PackedKey, std::shared_ptr<const Packed>, PackedHash> kept;
  uint64_t dropped = 0;  // number of times
};

Registry& registry() {
  static Registry* const one = new Registry;
  return *one;
}

// Find the last range that begins at or before the memory. Ranges belong to tensors, and overlap
// only if they begin at the same address.
bool is_in(const Registry& all, const void* memory) {
  const auto at = reinterpret_cast<uintptr_t>(memory);
  auto next = all.ranges.upper_bound({at, UINT64_MAX});
  if (next == all.ranges.begin()) return false;
  const auto& [begin, bytes] = std::prev(next)->first;
  return at - begin < bytes;
}

// Free the packed constants of a range. The host that declares or forgets it may know of a write
// that other hosts, which also declared it, do not know of yet.
void drop_packed(Registry& all, uintptr_t begin, uint64_t bytes) {
  ++all.dropped;
  for (auto each = all.kept.begin(); each != all.kept.end();) {
    const bool inside = reinterpret_cast<uintptr_t>(each->first.memory) - begin < bytes;
    each = inside ? all.kept.erase(each) : std::next(each);
  }
}

}  // namespace

Packed::Packed(uint64_t size) : data(std::aligned_alloc(64, (size + 63) / 64 * 64)), bytes(size) {}
Packed::~Packed() { std::free(data); }

void declare(const void* memory, uint64_t bytes) {
  Registry& all = registry();
  const std::unique_lock lock(all.mutex);
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  ++all.ranges[{begin, bytes}];
  drop_packed(all, begin, bytes);
}

bool forget(const void* memory, uint64_t bytes) {
  Registry& all = registry();
  const std::unique_lock lock(all.mutex);
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const auto found = all.ranges.find({begin, bytes});
  if (found == all.ranges.end()) return false;
  if (--found->second == 0) all.ranges.erase(found);
  drop_packed(all, begin, bytes);
  return true;
}

bool contains(const void* memory) {
  if (!in_use) return false;
  Registry& all = registry();
  const std::shared_lock lock(all.mutex);
  return is_in(all, memory);
}

std::shared_ptr<const Packed> kept(Packing packing, const void* memory, uint64_t bytes,
                                   const std::function<bool(void*)>& make) {
  if (!in_use) return nullptr;
  Registry& all = registry();
  uint64_t dropped = 0;
  {
    const std::shared_lock lock(all.mutex);
    const auto found = all.kept.find({packing, memory});
    if (found != all.kept.end()) return found->second;
    if (!is_in(all, memory)) return nullptr;
    dropped = all.dropped;
  }
  auto created = std::make_shared<const Packed>(bytes);
  if (created->data == nullptr || !make(created->data)) return nullptr;
  const std::unique_lock lock(all.mutex);
  // The range may have been dropped meanwhile; of two threads, the first one's result is kept.
  if (dropped == all.dropped) all.kept.emplace(PackedKey{packing, memory}, created);
  return created;
}

Statistics statistics() {
  Registry& all = registry();
  const std::shared_lock lock(all.mutex);
  Statistics found{all.ranges.size(), 0, all.kept.size(), 0};
  for (const auto& [range, count] : all.ranges) found.bytes += range.second;
  for (const auto& [key, one] : all.kept) found.kept_bytes += one->bytes;
  return found;
}

}  // namespace dl::cpu::constants
