// The memory plan: offsets of the temporaries of an entry in one block of memory.
#pragma once

#include <vector>

#include "concrete.h"
#include "tiling.h"

namespace dl::graph {

constexpr int64_t kAlignment = 64;

// The calls that use a temporary, from the first to the last; -1: none does.
struct Lifetime {
  int64_t first = -1;
  int64_t last = -1;
  int64_t bytes = 0;  // rounded up to the alignment
};

class Lifetimes {
 public:
  // With a tiling, what a group uses is live during all of the group, and what lives in the group
  // alone has no place here.
  Lifetimes(const Entry& entry, const Concrete& sized, const Tiling* tiling = nullptr);
  // Lifetimes of the temporaries that only a group uses, during one block.
  Lifetimes(const Entry& entry, const Concrete& sized, const Group& group);

  const Lifetime& of(size_t storage) const { return all_[storage]; }
  size_t count() const { return all_.size(); }
  bool is_placed(size_t storage) const { return all_[storage].first >= 0; }
  // The temporary that ends where this one begins, as an argument that the operator may write over;
  // -1: none.
  int64_t successor_of(size_t storage) const { return before_[storage]; }
  // The most bytes that are live at once, with results written over what they replace.
  int64_t most_live() const;

 private:
  void add_use(size_t storage, size_t first, size_t last, int64_t bytes);
  void find_successions(const Entry& entry, const Concrete& sized, size_t first, size_t end);

  std::vector<Lifetime> all_;
  std::vector<int64_t> before_;
};

struct Plan {
  std::vector<int64_t> offsets;  // by storage; -1 for what is not placed
  int64_t bytes = 0;
};

Plan plan_of(const StoredPlan& stored);

// A plan in which no two live temporaries share memory, with as little memory as was found.
Plan make_plan(const Lifetimes& lifetimes);

// Throws Failure: an offset is not aligned or outside, or two live temporaries share memory.
void check_plan(const Entry& entry, const Concrete& sized, const Lifetimes& lifetimes,
                const Plan& plan);

}  // namespace dl::graph
