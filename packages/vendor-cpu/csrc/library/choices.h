// Selection of the implementation that serves a call: the table of the choices extension
// (dl/choices.h), and the recording of calls. Without a table, a recording or a request, nothing
// here is called.
#ifndef DL_CPU_LIBRARY_CHOICES_H_
#define DL_CPU_LIBRARY_CHOICES_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "dl_kernels/parallel/launch.h"

namespace dl::cpu::choices {

enum class Point : int32_t { kGemm, kConvolve, kInputGradient, kWeightGradient };
inline constexpr const char* kPointNames[] = {"gemm", "convolution", "convolution_input_gradient",
                                              "convolution_weight_gradient"};

enum class Implementation : int32_t { kDefault, kOneDnn, kOneDnnOther, kOpenBlas, kOwn };

struct Choice {
  Implementation implementation = Implementation::kDefault;
  bool one_thread = false;
};

// A call, described by everything that its time may depend on.
class Key {
 public:
  static constexpr int kCapacity = 64;

  explicit Key(Point point) : point_(point) {}

  void add(int64_t value) {
    if (count_ < kCapacity) values_[count_] = value;
    ++count_;
  }
  Point point() const { return point_; }
  int count() const { return count_; }
  const int64_t* values() const { return values_; }
  bool complete() const { return count_ <= kCapacity; }
  bool operator==(const Key& other) const;
  uint64_t hash() const;

 private:
  Point point_;
  int count_ = 0;
  int64_t values_[kCapacity];
};

struct Entry {
  Key key;
  Choice choice;
};

struct Record {
  Key key;
  uint64_t calls;
  std::string choices;
};

struct Statistics {
  uint64_t entries, hits, misses;
};

// True if there is a table, a recording or a request.
extern std::atomic<bool> active;

// Return the table's choice for a call; kDefault if there is none. `candidates` returns the names
// of the possible choices, and is called the first time that a key is recorded.
Choice choose(const Key& key, std::string (*candidates)(const void* call), const void* call);

// Parse the name of a choice at a point; false if it is unknown.
bool parse(Point point, const std::string& name, Choice* choice);
bool parse_point(const std::string& name, Point* point);

void install(const std::vector<Entry>& entries);
void request(void (*wanted)(void* self), void* self);
void record(uint64_t capacity);
// Return false after the last one.
bool recorded(uint64_t number, Record* record);
Statistics statistics();

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
