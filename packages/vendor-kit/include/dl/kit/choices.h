// The choices extension (dl/choices.h): a table in which a vendor looks up the implementation of a
// call, the recording of calls, and the slots.
//
//   struct Choices {
//     enum class Point { kGemm };
//     static constexpr const char* kPoints[] = {"gemm"};
//     using Choice = int;                             Choice{} is the vendor's heuristic
//     static bool parse(Point point, const std::string& name, Choice* choice);  false: unknown
//   };
//   using Table = dl::kit::ChoiceTable<Choices>;
//
//   if (!Table::is_active()) return by_heuristic(call);
//   dl::kit::ChoiceKey key(Choices::Point::kGemm);
//   for (int64_t size : {call.m, call.n, call.k}) key.add(size);
//   switch (Table::choose(key, [&] { return std::string("own library"); })) ...
#ifndef DL_KIT_CHOICES_H_
#define DL_KIT_CHOICES_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dl/choices.h"
#include "dl/kit/base.h"
#include "dl/kit/extension.h"
#include "dl/kit/status.h"
#include "dl/kit/table.h"

DL_KIT_BEGIN

// A call at a choice point, described by everything that its time may depend on.
class ChoiceKey {
 public:
  template <class Point>
  explicit ChoiceKey(Point point) : point_(static_cast<int32_t>(point)) {}

  void add(int64_t value) {
    if (count_ < DL_CHOICE_MOST_VALUES) values_[count_] = value;
    ++count_;
  }
  int32_t point() const { return point_; }
  int count() const { return count_; }
  const int64_t* values() const { return values_; }
  // A key with too many values identifies no call.
  bool is_complete() const { return count_ <= DL_CHOICE_MOST_VALUES; }

  bool operator==(const ChoiceKey& other) const {
    return point_ == other.point_ && count_ == other.count_ &&
           std::equal(values_, values_ + count_, other.values_);
  }
  uint64_t hash() const {
    uint64_t hash = 0x9e3779b97f4a7c15u + static_cast<uint64_t>(point_);
    for (int i = 0; i < count_; ++i) {
      hash = (hash ^ static_cast<uint64_t>(values_[i])) * 0xff51afd7ed558ccdu;
      hash ^= hash >> 32;
    }
    return hash;
  }

 private:
  int32_t point_;
  int count_ = 0;
  int64_t values_[DL_CHOICE_MOST_VALUES];
};

// The table and the recording of a library. A lookup takes no lock.
template <class Choices>
class ChoiceTable {
 public:
  using Point = typename Choices::Point;
  using Choice = typename Choices::Choice;
  struct Entry {
    ChoiceKey key;
    Choice choice;
  };
  struct Record {
    ChoiceKey key;
    uint64_t calls;
    std::string candidates;
  };
  struct Statistics {
    uint64_t entries, hits, misses;
  };

  // Return true if there is a table, a recording or a request. Otherwise a call need not look it
  // up.
  static bool is_active() { return active_.load(std::memory_order_relaxed); }

  // Return the table's choice for a call; Choice{} if there is none. `candidates()` returns the
  // names of the possible choices, and is called when a key is recorded for the first time.
  template <class Candidates>
  static Choice choose(const ChoiceKey& key, const Candidates& candidates) {
    if (!key.is_complete()) return {};
    if (requested_.load(std::memory_order_relaxed) != nullptr) {
      if (const Request* const asked = requested_.exchange(nullptr)) {
        asked->wanted(asked->self);
        update_active();
      }
    }
    if (recording_.load(std::memory_order_relaxed)) note(key, candidates);
    const Index* const installed = index_.load(std::memory_order_acquire);
    if (installed == nullptr) return {};
    const Choice* const found = installed->find(key);
    (found == nullptr ? misses_ : hits_).fetch_add(1, std::memory_order_relaxed);
    return found == nullptr ? Choice{} : *found;
  }

  static void install(const std::vector<Entry>& entries) {
    Rest& all = rest();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const Index* created = nullptr;
    if (!entries.empty()) created = all.replaced.emplace_back(new Index(entries)).get();
    index_.store(created, std::memory_order_release);
    update_active();
  }
  static void request(void (*wanted)(void* self), void* self) {
    Rest& all = rest();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const Request* created = nullptr;
    if (wanted != nullptr) created = all.requests.emplace_back(new Request{wanted, self}).get();
    requested_.store(created);
    update_active();
  }
  static void record(uint64_t capacity) {
    Rest& all = rest();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.positions.clear();
    all.records.clear();
    all.capacity = capacity;
    recording_.store(capacity != 0);
    update_active();
  }
  // Fill `to` with the record of an index; false after the last one.
  static bool recorded(uint64_t number, dl_choice_record_t* to) {
    Rest& all = rest();
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (number >= all.records.size()) return false;
    const Record& found = all.records[number];
    put(to->key.point, Choices::kPoints[found.key.point()]);
    to->key.count = static_cast<uint64_t>(found.key.count());
    std::copy_n(found.key.values(), found.key.count(), to->key.values);
    to->calls = found.calls;
    put(to->choices, found.candidates);
    return true;
  }
  static Statistics statistics() {
    const Index* const installed = index_.load(std::memory_order_acquire);
    return {installed == nullptr ? 0 : installed->size(), hits_.load(), misses_.load()};
  }

 private:
  // Immutable, so that readers need no lock.
  class Index {
   public:
    explicit Index(const std::vector<Entry>& entries) {
      size_t size = 8;
      while (size < 2 * entries.size()) size *= 2;
      slots_.resize(size, -1);
      for (const Entry& entry : entries) {
        const size_t at = slot(entry.key);
        if (slots_[at] >= 0) {
          entries_[static_cast<size_t>(slots_[at])] = entry;
          continue;
        }
        slots_[at] = static_cast<int64_t>(entries_.size());
        entries_.push_back(entry);
      }
    }

    const Choice* find(const ChoiceKey& key) const {
      const int64_t at = slots_[slot(key)];
      return at < 0 ? nullptr : &entries_[static_cast<size_t>(at)].choice;
    }
    uint64_t size() const { return entries_.size(); }

   private:
    // Return the slot of the key, or the slot where it would be inserted.
    size_t slot(const ChoiceKey& key) const {
      const size_t mask = slots_.size() - 1;
      size_t at = key.hash() & mask;
      while (slots_[at] >= 0 && !(entries_[static_cast<size_t>(slots_[at])].key == key))
        at = (at + 1) & mask;
      return at;
    }

    std::vector<Entry> entries_;
    std::vector<int64_t> slots_;
  };

  struct HashOfKey {
    size_t operator()(const ChoiceKey& key) const { return key.hash(); }
  };
  struct Request {
    void (*wanted)(void* self);
    void* self;
  };
  // State protected by the mutex: everything that the lookup does not need.
  struct Rest {
    std::mutex mutex;
    uint64_t capacity = 0;
    std::vector<Record> records;
    std::unordered_map<ChoiceKey, size_t, HashOfKey> positions;
    // Replaced tables and requests are never freed: a reader may still use them.
    std::vector<std::unique_ptr<const Index>> replaced;
    std::vector<std::unique_ptr<const Request>> requests;
  };

  static Rest& rest() {
    // Never destroyed: operators of threads that outlive main may use it.
    static Rest* const created = new Rest;
    return *created;
  }

  static void update_active() {
    active_.store(index_.load() != nullptr || recording_.load() || requested_.load() != nullptr);
  }

  template <class Candidates>
  static void note(const ChoiceKey& key, const Candidates& candidates) {
    Rest& all = rest();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto found = all.positions.find(key);
    if (found != all.positions.end()) {
      ++all.records[found->second].calls;
    } else if (all.records.size() < all.capacity) {
      all.positions.emplace(key, all.records.size());
      all.records.push_back({key, 1, candidates()});
    }
  }

  static inline std::atomic<bool> active_{false}, recording_{false};
  static inline std::atomic<const Index*> index_{nullptr};
  static inline std::atomic<const Request*> requested_{nullptr};
  static inline std::atomic<uint64_t> hits_{0}, misses_{0};
};

namespace detail {

template <size_t kSize>
std::string text_of(const char (&field)[kSize]) {
  return {field, strnlen(field, kSize)};
}

[[noreturn]] inline void refuse_entry(uint64_t number, const std::string& reason) {
  throw Error(DL_INVALID_ARGUMENT, "entry " + std::to_string(number) + " " + reason +
                                       "; tune again with this release of the vendor");
}

template <class Choices>
typename ChoiceTable<Choices>::Entry parse_entry(const dl_choice_entry_t& given, uint64_t number) {
  using Point = typename Choices::Point;
  const std::string name = text_of(given.key.point), choice = text_of(given.choice);
  const auto* const known =
      std::find(std::begin(Choices::kPoints), std::end(Choices::kPoints), name);
  if (known == std::end(Choices::kPoints))
    refuse_entry(number, "has the choice point '" + name + "', which is unknown");
  const Point point = static_cast<Point>(known - std::begin(Choices::kPoints));
  typename ChoiceTable<Choices>::Entry entry{ChoiceKey(point), {}};
  if (given.key.count > DL_CHOICE_MOST_VALUES)
    refuse_entry(number,
                 "has " + std::to_string(given.key.count) + " values, more than a key can hold");
  for (uint64_t i = 0; i < given.key.count; ++i) entry.key.add(given.key.values[i]);
  if (!Choices::parse(point, choice, &entry.choice))
    refuse_entry(number,
                 "chooses '" + choice + "' at '" + name + "', which has no such implementation");
  return entry;
}

}  // namespace detail

// Returns the extension of a vendor. V has `std::string choice_identity(int32_t device)`, the text
// of dl_choice_properties_t.
template <class V, class Choices>
dl_extension_t* choices_extension(dl_extension_t* next) {
  using Table = ChoiceTable<Choices>;
  static dl_choices_extension_t table{};
  table.struct_size = sizeof table;
  table.type = DL_EXT_CHOICES;
  table.next = next;
  table.properties = [](dl_vendor_t* vendor, int32_t device, dl_choice_properties_t* properties) {
    return device_slot<V>(vendor, device, [&](V& v) {
      dl_choice_properties_t all{};
      put(all.identity, v.choice_identity(device));
      fill(properties, all);
    });
  };
  table.install = [](dl_vendor_t* vendor, int32_t device, const dl_choice_entry_t* entries,
                     uint64_t count) {
    return device_slot<V>(vendor, device, [&](V&) {
      if (count != 0 && entries == nullptr)
        throw Error(DL_INVALID_ARGUMENT, "the entries are NULL, but their count is not 0");
      std::vector<typename Table::Entry> parsed;
      parsed.reserve(count);
      for (uint64_t i = 0; i < count; ++i)
        parsed.push_back(detail::parse_entry<Choices>(entries[i], i));
      Table::install(parsed);
    });
  };
  table.request = [](dl_vendor_t* vendor, int32_t device, void (*wanted)(void* self), void* self) {
    return device_slot<V>(vendor, device, [&](V&) { Table::request(wanted, self); });
  };
  table.record = [](dl_vendor_t* vendor, int32_t device, uint64_t capacity) {
    return device_slot<V>(vendor, device, [&](V&) { Table::record(capacity); });
  };
  table.recorded = [](dl_vendor_t* vendor, int32_t device, uint64_t number,
                      dl_choice_record_t* record) {
    return device_slot<V>(vendor, device, [&](V&) {
      dl_choice_record_t all{};
      Table::recorded(number, &all);
      fill(record, all);
    });
  };
  table.statistics = [](dl_vendor_t* vendor, int32_t device, dl_choice_statistics_t* statistics) {
    return device_slot<V>(vendor, device, [&](V&) {
      const auto found = Table::statistics();
      dl_choice_statistics_t all{};
      all.entries = found.entries;
      all.hits = found.hits;
      all.misses = found.misses;
      fill(statistics, all);
    });
  };
  return reinterpret_cast<dl_extension_t*>(&table);
}

DL_KIT_END

#endif  // DL_KIT_CHOICES_H_
