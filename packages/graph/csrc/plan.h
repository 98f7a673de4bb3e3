// Memory plan: offsets of the temporaries of an entry in one block of memory.
#pragma once

#include <vector>

#include "concrete.h"
#include "tiling.h"

namespace dl::graph {

constexpr int64_t kAlignment = 64;

// First and last call that use a temporary; -1 if no call uses it.
struct Lifetime {
  int64_t first = -1;
  int64_t last = -1;
  int64_t bytes = 0;  // with padding, rounded up to the alignment
};

class Lifetimes {
 public:
  // With a tiling, temporaries that a group uses are live during the whole group; temporaries that
  // are local to a group are not included. `padding`: bytes without data behind each temporary.
  Lifetimes(const Entry& entry, const Concrete& sized, const Tiling* tiling = nullptr,
            int64_t padding = 0);
  // Lifetimes of the local temporaries of a group, during one block.
  Lifetimes(const Entry& entry, const Concrete& sized, const Group& group);

  const Lifetime& of(size_t storage) const { return all_[storage]; }
  size_t count() const { return all_.size(); }
  int64_t padding() const { return padding_; }
  bool is_placed(size_t storage) const { return all_[storage].first >= 0; }
  // Returns the temporary that is an input of the call that creates this one, ends there, and may
  // be overwritten; -1 if there is none.
  int64_t successor_of(size_t storage) const { return before_[storage]; }
  // Maximum number of bytes live at once, if results overwrite the temporaries that they replace.
  int64_t most_live() const;

 private:
  void add_use(size_t storage, size_t first, size_t last, int64_t bytes);
  void find_successions(const Entry& entry, const Concrete& sized, size_t first, size_t end);

  std::vector<Lifetime> all_;
  std::vector<int64_t> before_;
  int64_t padding_ = 0;
};

struct Plan {
  std::vector<int64_t> offsets;  // by storage; -1 for storages without an offset
  int64_t bytes = 0;
};

Plan plan_of(const StoredPlan& stored);

// Returns the smallest plan that was found in which no two live temporaries share memory.
Plan make_plan(const Lifetimes& lifetimes);

// Throws Failure if an offset is unaligned or out of range, or live temporaries share memory.
void check_plan(const Entry& entry, const Concrete& sized, const Lifetimes& lifetimes,
                const Plan& plan);

}  // namespace dl::graph
