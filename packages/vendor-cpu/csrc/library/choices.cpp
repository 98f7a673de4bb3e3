#include "library/choices.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace dl::cpu::choices {
namespace {

// Immutable, so that readers need no lock.
class Table {
 public:
  explicit Table(const std::vector<Entry>& entries) : count_(entries.size()) {
    size_t size = 8;
    while (size < 2 * entries.size()) size *= 2;
    slots_.resize(size, -1);
    for (const Entry& entry : entries) {
      size_t at = slot(entry.key);
      if (slots_[at] >= 0) {
        entries_[static_cast<size_t>(slots_[at])] = entry;
        continue;
      }
      slots_[at] = static_cast<int64_t>(entries_.size());
      entries_.push_back(entry);
    }
    count_ = entries_.size();
  }

  const Choice* find(const Key& key) const {
    const int64_t at = slots_[slot(key)];
    return at < 0 ? nullptr : &entries_[static_cast<size_t>(at)].choice;
  }
  uint64_t size() const { return count_; }

 private:
  // Return the slot of the key, or the slot where it would be inserted.
  size_t slot(const Key& key) const {
    const size_t mask = slots_.size() - 1;
    size_t at = key.hash() & mask;
    while (slots_[at] >= 0 && !(entries_[static_cast<size_t>(slots_[at])].key == key))
      at = (at + 1) & mask;
    return at;
  }

  std::vector<Entry> entries_;
  std::vector<int64_t> slots_;
  uint64_t count_;
};

struct HashOfKey {
  size_t operator()(const Key& key) const { return key.hash(); }
};

struct Recording {
  uint64_t capacity = 0;
  std::vector<Record> records;
  std::unordered_map<Key, size_t, HashOfKey> index;
};

struct Request {
  void (*wanted)(void* self);
  void* self;
};

std::atomic<const Table*> table{nullptr};
std::atomic<bool> recording_now{false};
std::atomic<const Request*> requested{nullptr};
std::atomic<uint64_t> hits{0}, misses{0};

// State protected by the mutex: everything that the look-up does not need.
struct Rest {
  std::mutex mutex;
  Recording recording;
  // Replaced tables and requests are never freed: a reader may still use them.
  std::vector<std::unique_ptr<const Table>> tables;
  std::vector<std::unique_ptr<const Request>> requests;
};

Rest& rest() {
  // Never destroyed: operators of threads that outlive main may use it.
  static Rest* const created = new Rest;
  return *created;
}

void update_active() {
  active.store(table.load() != nullptr || recording_now.load() || requested.load() != nullptr);
}

void note(const Key& key, std::string (*candidates)(const void*), const void* call) {
  Rest& all = rest();
  const std::lock_guard<std::mutex> lock(all.mutex);
  Recording& recording = all.recording;
  const auto found = recording.index.find(key);
  if (found != recording.index.end()) {
    ++recording.records[found->second].calls;
  } else if (recording.records.size() < recording.capacity) {
    recording.index.emplace(key, recording.records.size());
    recording.records.push_back({key, 1, candidates(call)});
  }
}

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

std::atomic<bool> active{false};

bool Key::operator==(const Key& other) const {
  return point_ == other.point_ && count_ == other.count_ &&
         std::equal(values_, values_ + count_, other.values_);
}

uint64_t Key::hash() const {
  uint64_t hash = 0x9e3779b97f4a7c15u + static_cast<uint64_t>(point_);
  for (int i = 0; i < count_; ++i) {
    hash = (hash ^ static_cast<uint64_t>(values_[i])) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

Choice choose(const Key& key, std::string (*candidates)(const void* call), const void* call) {
  if (!key.complete()) return {};
  if (requested.load(std::memory_order_relaxed) != nullptr) {
    if (const Request* asked = requested.exchange(nullptr)) {
      asked->wanted(asked->self);
      update_active();
    }
  }
  if (recording_now.load(std::memory_order_relaxed)) note(key, candidates, call);
  const Table* const installed = table.load(std::memory_order_acquire);
  if (installed == nullptr) return {};
  const Choice* const found = installed->find(key);
  (found == nullptr ? misses : hits).fetch_add(1, std::memory_order_relaxed);
  return found == nullptr ? Choice{} : *found;
}

bool parse(Point point, const std::string& name, Choice* choice) {
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

bool parse_point(const std::string& name, Point* point) {
  const auto* const found = std::find_if(std::begin(kPointNames), std::end(kPointNames),
                                         [&](const char* known) { return name == known; });
  *point = static_cast<Point>(found - std::begin(kPointNames));
  return found != std::end(kPointNames);
}

void install(const std::vector<Entry>& entries) {
  Rest& all = rest();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const Table* created = nullptr;
  if (!entries.empty()) created = all.tables.emplace_back(new Table(entries)).get();
  table.store(created, std::memory_order_release);
  update_active();
}

void request(void (*wanted)(void* self), void* self) {
  Rest& all = rest();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const Request* created = nullptr;
  if (wanted != nullptr) created = all.requests.emplace_back(new Request{wanted, self}).get();
  requested.store(created);
  update_active();
}

void record(uint64_t capacity) {
  Rest& all = rest();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.recording = Recording{};
  all.recording.capacity = capacity;
  recording_now.store(capacity != 0);
  update_active();
}

bool recorded(uint64_t number, Record* record) {
  Rest& all = rest();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (number >= all.recording.records.size()) return false;
  *record = all.recording.records[number];
  return true;
}

Statistics statistics() {
  const Table* const installed = table.load(std::memory_order_acquire);
  return {installed == nullptr ? 0 : installed->size(), hits.load(), misses.load()};
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
