#include "plan.h"

#include <algorithm>
#include <numeric>

#include "failure.h"

namespace dl::graph {
namespace {

// Up to this many items, all orders are tried; beyond it, only some heuristic orders.
constexpr size_t kTryAllOrders = 7;
constexpr size_t kSwapUpTo = 256;
constexpr int kSwaps = 300;
// Beyond this many items only one order is tried: the cost of an order is quadratic.
constexpr size_t kManyItems = 8192;

// Temporaries that use the same memory in succession.
struct Item {
  std::vector<size_t> storages;
  int64_t first = 0;
  int64_t last = 0;
  int64_t bytes = 0;
  int64_t offset = 0;
};

using Order = std::vector<size_t>;

// Places the items in this order, each at the lowest free offset. Some order yields an optimal
// plan: the order of the offsets in an optimal plan.
int64_t place(std::vector<Item>& items, const Order& order) {
  int64_t total = 0;
  std::vector<const Item*> busy;
  for (size_t i = 0; i < order.size(); ++i) {
    Item& item = items[order[i]];
    busy.clear();
    for (size_t j = 0; j < i; ++j) {
      const Item& other = items[order[j]];
      if (other.first <= item.last && item.first <= other.last) busy.push_back(&other);
    }
    std::sort(busy.begin(), busy.end(),
              [](const Item* a, const Item* b) { return a->offset < b->offset; });
    item.offset = 0;
    for (const Item* other : busy) {
      if (item.offset + item.bytes <= other->offset) break;
      item.offset = std::max(item.offset, other->offset + other->bytes);
    }
    total = std::max(total, item.offset + item.bytes);
  }
  return total;
}

// Returns the maximum number of live bytes, a lower bound for every plan.
int64_t bound(const std::vector<Item>& items) {
  // Items that begin at a call count before items that end at it: both are live during the call.
  std::vector<std::pair<int64_t, int64_t>> changes;
  for (const Item& item : items) {
    changes.emplace_back(2 * item.first, item.bytes);
    changes.emplace_back(2 * item.last + 1, -item.bytes);
  }
  std::sort(changes.begin(), changes.end());
  int64_t most = 0;
  int64_t live = 0;
  for (const auto& [when, bytes] : changes) {
    live += bytes;
    most = std::max(most, live);
  }
  return most;
}

std::vector<Order> good_orders(const std::vector<Item>& items) {
  const auto sorted = [&](auto key) {
    Order order(items.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return key(items[a]) > key(items[b]); });
    return order;
  };
  return {
      sorted([](const Item& item) { return static_cast<double>(item.bytes); }),
      sorted([](const Item& item) {
        return static_cast<double>(item.bytes) * static_cast<double>(item.last - item.first + 1);
      }),
      sorted([](const Item& item) { return static_cast<double>(item.last - item.first); }),
      sorted([](const Item& item) { return -static_cast<double>(item.first); }),
  };
}

// Returns the size for the best of the tried orders; stops when a size of `enough` is reached.
int64_t best_place(std::vector<Item>& items, int64_t enough) {
  Order best;
  int64_t least = INT64_MAX;
  const auto attempt = [&](const Order& order) {
    const int64_t total = place(items, order);
    if (total < least) {
      least = total;
      best = order;
    }
  };
  for (const Order& order : good_orders(items)) {
    if (least > enough) attempt(order);
    if (items.size() > kManyItems) break;
  }
  if (items.size() <= kTryAllOrders) {
    Order order(items.size());
    std::iota(order.begin(), order.end(), 0);
    do {
      if (least <= enough) break;
      attempt(order);
    } while (std::next_permutation(order.begin(), order.end()));
  } else if (items.size() <= kSwapUpTo) {
    // A fixed seed, so that the same graph always has the same plan.
    uint64_t random = 1;
    for (int i = 0; i < kSwaps && least > enough; ++i) {
      Order order = best;
      random = random * 6364136223846793005U + 1442695040888963407U;
      std::swap(order[(random >> 33) % order.size()], order[(random >> 45) % order.size()]);
      attempt(order);
    }
  }
  return place(items, best);
}

std::vector<Item> items_of(const Lifetimes& lifetimes, bool in_place) {
  std::vector<Item> items;
  std::vector<size_t> item_of(lifetimes.count());
  std::vector<size_t> order;
  for (size_t storage = 0; storage < lifetimes.count(); ++storage)
    if (lifetimes.is_placed(storage)) order.push_back(storage);
  // A temporary that is overwritten comes before the one that overwrites it.
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return lifetimes.of(a).first < lifetimes.of(b).first;
  });
  for (const size_t storage : order) {
    const Lifetime& life = lifetimes.of(storage);
    const int64_t before = in_place ? lifetimes.successor_of(storage) : -1;
    if (before >= 0) {
      Item& item = items[item_of[static_cast<size_t>(before)]];
      item.storages.push_back(storage);
      item.last = life.last;
      item.bytes = std::max(item.bytes, life.bytes);
      item_of[storage] = item_of[static_cast<size_t>(before)];
    } else {
      item_of[storage] = items.size();
      items.push_back({{storage}, life.first, life.last, life.bytes, 0});
    }
  }
  return items;
}

}  // namespace

Lifetimes::Lifetimes(const Entry& entry, const Concrete& sized, const Tiling* tiling,
                     int64_t padding)
    : all_(entry.storages.size()), before_(entry.storages.size(), -1), padding_(padding) {
  for (size_t number = 0; number < entry.calls.size(); ++number) {
    const Group* const group = tiling == nullptr ? nullptr : tiling->group_of(number);
    each_tensor(entry.calls[number], [&](size_t, const Parameter&, size_t value) {
      const size_t storage = entry.values[value].storage;
      if (entry.storages[storage].kind != StorageKind::kTemp) return;
      if (group == nullptr) {
        add_use(storage, number, number, sized.bytes[storage]);
      } else if (group->local[storage] < 0) {
        add_use(storage, group->first, group->last, sized.bytes[storage]);
      }
    });
  }
  find_successions(entry, sized, 0, entry.calls.size());
}

Lifetimes::Lifetimes(const Entry& entry, const Concrete& sized, const Group& group)
    : all_(entry.storages.size()), before_(entry.storages.size(), -1) {
  for (size_t number = group.first; number <= group.last; ++number)
    each_tensor(entry.calls[number], [&](size_t, const Parameter&, size_t value) {
      const size_t storage = entry.values[value].storage;
      if (group.local[storage] >= 0) add_use(storage, number, number, group.local[storage]);
    });
  find_successions(entry, sized, group.first, group.last + 1);
}

void Lifetimes::add_use(size_t storage, size_t first, size_t last, int64_t bytes) {
  if (bytes > INT64_MAX / 2) throw Failure("a temporary of more than 2^62 bytes");
  Lifetime& life = all_[storage];
  if (life.first < 0) life.first = static_cast<int64_t>(first);
  life.last = static_cast<int64_t>(last);
  if (bytes > 0) bytes += padding_;
  life.bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

void Lifetimes::find_successions(const Entry& entry, const Concrete& sized, size_t first,
                                 size_t end) {
  std::vector<bool> taken(all_.size(), false);
  for (size_t number = first; number < end; ++number) {
    const Call& call = entry.calls[number];
    struct Use {
      size_t place;
      const Parameter* parameter;
      size_t value;
    };
    std::vector<Use> uses;
    each_tensor(call, [&](size_t place, const Parameter& parameter, size_t value) {
      uses.push_back({place, &parameter, value});
    });
    const auto times = [&](size_t storage) {
      return std::count_if(uses.begin(), uses.end(), [&](const Use& use) {
        return entry.values[use.value].storage == storage;
      });
    };
    for (const Use& out : uses) {
      const size_t made = entry.values[out.value].storage;
      if (out.parameter->direction != Direction::kOut || !is_placed(made) ||
          all_[made].first != static_cast<int64_t>(number) || times(made) != 1)
        continue;
      for (const Use& in : uses) {
        const size_t ended = entry.values[in.value].storage;
        if ((out.parameter->may_alias >> in.place & 1) == 0 ||
            in.parameter->direction != Direction::kIn || !is_placed(ended) || taken[ended] ||
            ended == made || all_[ended].last != static_cast<int64_t>(number) ||
            all_[ended].first == static_cast<int64_t>(number) || times(ended) != 1 ||
            entry.values[in.value].dtype != entry.values[out.value].dtype ||
            !same_view(sized.views[in.value], sized.views[out.value]))
          continue;
        taken[ended] = true;
        before_[made] = static_cast<int64_t>(ended);
        break;
      }
    }
  }
}

int64_t Lifetimes::most_live() const { return bound(items_of(*this, true)); }

Plan plan_of(const StoredPlan& stored) { return {stored.offsets, stored.bytes}; }

Plan make_plan(const Lifetimes& lifetimes) {
  std::vector<Item> items = items_of(lifetimes, true);
  const int64_t enough = bound(items);
  int64_t bytes = best_place(items, enough);
  if (bytes > enough) {
    std::vector<Item> apart = items_of(lifetimes, false);
    const int64_t other = best_place(apart, enough);
    if (other < bytes) {
      bytes = other;
      items.swap(apart);
    }
  }
  Plan plan;
  plan.bytes = bytes;
  plan.offsets.assign(lifetimes.count(), -1);
  for (const Item& item : items)
    for (const size_t storage : item.storages) plan.offsets[storage] = item.offset;
  return plan;
}

void check_plan(const Entry& entry, const Concrete& sized, const Lifetimes& lifetimes,
                const Plan& plan) {
  std::vector<size_t> placed;
  for (size_t storage = 0; storage < lifetimes.count(); ++storage) {
    const int64_t offset = plan.offsets[storage];
    if (!lifetimes.is_placed(storage)) continue;
    if (offset < 0 || offset % kAlignment != 0 || offset > plan.bytes ||
        sized.bytes[storage] > plan.bytes - offset)
      throw Failure("temporary " + std::to_string(storage) + " is outside the plan's " +
                    std::to_string(plan.bytes) + " bytes, or is not aligned; plan again");
    placed.push_back(storage);
  }
  std::sort(placed.begin(), placed.end(),
            [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; });
  for (size_t i = 0; i < placed.size(); ++i) {
    const size_t a = placed[i];
    const int64_t end = plan.offsets[a] + sized.bytes[a] + lifetimes.padding();
    for (size_t j = i + 1; j < placed.size() && plan.offsets[placed[j]] < end; ++j) {
      const size_t b = placed[j];
      const Lifetime& x = lifetimes.of(a);
      const Lifetime& y = lifetimes.of(b);
      if (sized.bytes[a] == 0 || sized.bytes[b] == 0 || x.last < y.first || y.last < x.first)
        continue;
      const bool successive = plan.offsets[a] == plan.offsets[b] &&
                              (lifetimes.successor_of(b) == static_cast<int64_t>(a) ||
                               lifetimes.successor_of(a) == static_cast<int64_t>(b));
      if (!successive)
        throw Failure("temporaries " + std::to_string(a) + " and " + std::to_string(b) +
                      " share memory while both are live in entry " + entry.name + "; plan again");
    }
  }
}

}  // namespace dl::graph
