#include "tiling.h"

#include <unistd.h>

#include <algorithm>

#include "diopi/types.gen.h"
#include "row_rules.h"

namespace dl::graph {
namespace {

constexpr int64_t kGuessedCache = int64_t{1} << 20;
// Inverse of the share of the cache for the blocks of a group's tensors. A larger share would leave
// no space for the vendor's operators; with a smaller one, calls would have too few elements.
constexpr int64_t kBlockShare = 4;
// Bytes of one tensor in a block, unless a row is larger: a few of these fit into the first-level
// cache, and the next block is prefetched in time (lane.cpp). Chosen by benchmarks/chains.py.
constexpr int64_t kPieceBytes = 8192;
// Maximum number of calls in a group: adding a call takes time proportional to their number.
constexpr size_t kMostCalls = 64;
// Minimum number of light calls per busy call in a group. With fewer, whole calls were faster,
// presumably because of prefetching during computation. Chosen by benchmarks/chains.py.
constexpr int64_t kLightPerBusy = 2;
// Calls with fewer elements than the largest call's divided by this are not counted for that ratio.
constexpr int64_t kSmallShare = 4;

constexpr const char* kAlone = "no adjacent call has the same rows";
constexpr const char* kSmall = "the tensors of its group fit into the cache as they are";
constexpr const char* kComputesLong =
    "it is compute-bound, and a group must not begin with such a call";
constexpr const char* kComputes = "its group is compute-bound";
constexpr const char* kScattered = "the elements of its rows are not contiguous in a tensor";
constexpr const char* kLarge = "one row of its tensors does not fit into the cache";

int64_t inner_bytes(const Concrete& sized, const Piece& piece, size_t depth) {
  const ConcreteView& view = sized.views[piece.value];
  std::vector<bool> cut(view.shape.size(), false);
  for (size_t d = 0; d < depth; ++d)
    if (piece.dims[d] >= 0) cut[static_cast<size_t>(piece.dims[d])] = true;
  int64_t bytes = view.item;
  for (size_t d = 0; d < view.shape.size(); ++d)
    if (!cut[d]) bytes += (view.shape[d] - 1) * view.step_bytes(d);
  return bytes;
}

int64_t step_bytes(const Concrete& sized, const Piece& piece, size_t dim) {
  if (piece.dims[dim] < 0) return 0;
  return sized.views[piece.value].step_bytes(static_cast<size_t>(piece.dims[dim]));
}

bool is_cut(const Piece& piece, size_t depth) {
  return std::any_of(piece.dims.begin(), piece.dims.begin() + static_cast<std::ptrdiff_t>(depth),
                     [](int32_t dim) { return dim >= 0; });
}

// Builder of the groups of one entry, call by call.
class Former {
 public:
  Former(const Entry& entry, const Concrete& sized, int64_t cache, When when)
      : entry_(entry), sized_(sized), cache_(cache), when_(when) {
    for (const Call& call : entry.calls) cuts_.push_back(cut_of(sized, call));
    for (size_t number = 0; number < entry.calls.size(); ++number) {
      each_tensor(entry.calls[number], [&](size_t, const Parameter&, size_t value) {
        const size_t storage = entry.values[value].storage;
        if (ends_.size() <= storage) ends_.resize(storage + 1, {entry.calls.size(), 0});
        ends_[storage].first = std::min(ends_[storage].first, number);
        ends_[storage].second = std::max(ends_[storage].second, number);
      });
    }
    ends_.resize(entry.storages.size(), {entry.calls.size(), 0});
  }

  Tiling make() {
    Tiling out;
    out.reasons.assign(entry_.calls.size(), "");
    for (size_t first = 0; first < cuts_.size();) {
      Group found;
      const bool reads_ahead = when_ == When::kFaster && is_busy(first);
      if (reads_ahead || !try_group(first, first, found)) {
        out.reasons[first] = !cuts_[first].possible() ? cuts_[first].reason
                             : reads_ahead            ? kComputesLong
                                                      : kLarge;
        ++first;
        continue;
      }
      size_t last = first;
      while (last + 1 < cuts_.size() && last - first + 1 < kMostCalls &&
             try_group(first, last + 1, found))
        ++last;
      const char* const reason = when_ == When::kAlways ? ""
                                 : last == first        ? kAlone
                                                        : drawback(found);
      if (*reason == '\0') {
        out.groups.push_back(std::move(found));
      } else {
        std::fill(out.reasons.begin() + static_cast<std::ptrdiff_t>(first),
                  out.reasons.begin() + static_cast<std::ptrdiff_t>(last) + 1, reason);
      }
      first = last + 1;
    }
    return out;
  }

 private:
  // Returns true if a call is compute-bound. Calls in half precision are: they convert elements,
  // which have half as many bytes.
  bool is_busy(size_t call) const {
    bool half = false;
    each_tensor(entry_.calls[call], [&](size_t, const Parameter&, size_t value) {
      const int32_t dtype = entry_.values[value].dtype;
      half = half || dtype == diopi_dtype_float16 || dtype == diopi_dtype_bfloat16;
    });
    return half || row_rule(*entry_.calls[call].called).busy;
  }

  // Returns the leading dimensions that the spaces of all these calls share.
  std::vector<int64_t> common_space(size_t first, size_t last) const {
    std::vector<int64_t> out = cuts_[first].space;
    for (size_t number = first + 1; number <= last; ++number) {
      const std::vector<int64_t>& other = cuts_[number].space;
      const auto end = std::mismatch(out.begin(), out.end(), other.begin(), other.end()).first;
      out.erase(end, out.end());
    }
    return out;
  }

  // Returns false, and leaves `group` unchanged, if these calls cannot be a group.
  bool try_group(size_t first, size_t last, Group& group) const {
    if (!cuts_[last].possible()) return false;
    Group made;
    made.first = first;
    made.last = last;
    made.space = common_space(first, last);
    if (made.space.empty()) return false;
    gather(made);
    if (!choose_rows(made) || !windows_apart(made)) return false;
    group = std::move(made);
    return true;
  }

  void gather(Group& group) const {
    for (size_t number = group.first; number <= group.last; ++number) {
      std::vector<size_t>& uses = group.uses.emplace_back();
      size_t use = 0;
      each_tensor(entry_.calls[number], [&](size_t, const Parameter&, size_t value) {
        Piece piece{value, cuts_[number].dims[use++]};
        piece.dims.resize(group.space.size());
        const auto found = std::find(group.pieces.begin(), group.pieces.end(), piece);
        uses.push_back(static_cast<size_t>(found - group.pieces.begin()));
        if (found == group.pieces.end()) group.pieces.push_back(std::move(piece));
      });
    }
  }

  // Cuts the fewest dimensions so that a block fits into the share of the cache; sets its rows.
  bool choose_rows(Group& group) const {
    const int64_t room = cache_ / kBlockShare;
    if (when_ == When::kAlways) {
      group.rows = (group.space.back() + 2) / 3;
      return true;
    }
    for (size_t depth = 1; depth <= group.space.size(); ++depth) {
      int64_t bytes = 0;
      int64_t largest = 0;
      for (const Piece& piece : group.pieces) {
        if (!is_cut(piece, depth)) continue;
        bytes += inner_bytes(sized_, piece, depth);
        largest = std::max(largest, inner_bytes(sized_, piece, depth));
      }
      if (bytes > room || bytes == 0) continue;
      const int64_t most = std::max<int64_t>(1, std::min(room / bytes, kPieceBytes / largest));
      const int64_t size = group.space[depth - 1];
      const int64_t chunks = (size + most - 1) / most;
      group.rows = (size + chunks - 1) / chunks;
      group.space.resize(depth);
      for (Piece& piece : group.pieces) piece.dims.resize(depth);
      return true;
    }
    return false;
  }

  // Returns true if the windows of each storage that the group writes are disjoint; marks local
  // storages.
  bool windows_apart(Group& group) const {
    group.local.assign(entry_.storages.size(), -1);
    std::vector<bool> written(entry_.storages.size(), false);
    for (size_t number = group.first; number <= group.last; ++number)
      each_tensor(entry_.calls[number], [&](size_t, const Parameter& parameter, size_t value) {
        if (parameter.direction != Direction::kIn) written[entry_.values[value].storage] = true;
      });
    for (size_t storage = 0; storage < written.size(); ++storage)
      if (written[storage] && !window_apart(group, storage)) return false;
    return true;
  }

  // Returns true if another storage of the entry has the same memory.
  bool has_twin(size_t storage) const {
    const Storage& wanted = entry_.storages[storage];
    return wanted.kind == StorageKind::kState &&
           std::count_if(entry_.storages.begin(), entry_.storages.end(), [&](const Storage& each) {
             return each.kind == wanted.kind && each.shared == wanted.shared;
           }) > 1;
  }

  bool window_apart(Group& group, size_t storage) const {
    if (has_twin(storage)) return false;
    const size_t depth = group.space.size();
    const Piece* model = nullptr;
    int64_t begin = INT64_MAX;
    int64_t end = 0;
    for (const Piece& piece : group.pieces) {
      if (entry_.values[piece.value].storage != storage) continue;
      const ConcreteView& view = sized_.views[piece.value];
      if (model == nullptr) model = &piece;
      for (size_t d = 0; d < depth; ++d)
        if (group.space[d] > 1 &&
            (piece.dims[d] < 0 || step_bytes(sized_, piece, d) != step_bytes(sized_, *model, d)))
          return false;
      begin = std::min(begin, view.begin);
      end = std::max(end, view.begin + inner_bytes(sized_, piece, depth));
    }
    if (!apart(group, *model, end - begin)) return false;
    const bool ours = entry_.storages[storage].kind == StorageKind::kTemp &&
                      ends_[storage].first >= group.first && ends_[storage].second <= group.last;
    if (ours && apart(group, *model, end))
      group.local[storage] = end + (group.rows - 1) * step_bytes(sized_, *model, depth - 1);
    return true;
  }

  // Returns true if windows of this many bytes, one for each index, do not overlap.
  bool apart(const Group& group, const Piece& model, int64_t window) const {
    std::vector<std::pair<int64_t, int64_t>> steps;
    for (size_t d = 0; d < group.space.size(); ++d)
      if (group.space[d] > 1) steps.emplace_back(step_bytes(sized_, model, d), group.space[d]);
    std::sort(steps.begin(), steps.end());
    for (const auto& [step, count] : steps) {
      if (step < window) return false;
      window += step * (count - 1);
    }
    return true;
  }

  // Returns why whole calls would be as fast; empty if blocks are expected to be faster.
  const char* drawback(const Group& group) const {
    if (total_bytes(group) <= cache_) return kSmall;
    if (is_scattered(group)) return kScattered;
    std::vector<int64_t> elements;
    for (size_t number = group.first; number <= group.last; ++number) {
      int64_t most = 0;
      each_tensor(entry_.calls[number], [&](size_t, const Parameter&, size_t value) {
        most = std::max(most, sized_.views[value].numel);
      });
      elements.push_back(most);
    }
    const int64_t least = *std::max_element(elements.begin(), elements.end()) / kSmallShare;
    int64_t light = 0;
    int64_t busy = 0;
    for (size_t i = 0; i < elements.size(); ++i)
      if (elements[i] > least) ++(is_busy(group.first + i) ? busy : light);
    return light < kLightPerBusy * busy ? kComputes : "";
  }

  // Returns true if the elements of a block are not contiguous in a large tensor: whole calls order
  // their loops along its memory, and fewer of them skip gaps.
  bool is_scattered(const Group& group) const {
    int64_t most = 0;
    for (const Piece& piece : group.pieces) most = std::max(most, sized_.views[piece.value].numel);
    return std::any_of(group.pieces.begin(), group.pieces.end(), [&](const Piece& piece) {
      return sized_.views[piece.value].numel > most / kSmallShare &&
             nearest_bytes(group, piece) > sized_.views[piece.value].item;
    });
  }

  // Returns the distance in bytes between the nearest elements of a block; 0 if it has only one.
  int64_t nearest_bytes(const Group& group, const Piece& piece) const {
    const ConcreteView& view = sized_.views[piece.value];
    int64_t nearest = 0;
    for (size_t d = 0; d < view.shape.size(); ++d) {
      const auto at = std::find(piece.dims.begin(), piece.dims.end(), static_cast<int32_t>(d));
      const bool is_last = at != piece.dims.end() && at + 1 == piece.dims.end();
      const int64_t size = at == piece.dims.end() ? view.shape[d] : is_last ? group.rows : 1;
      if (size > 1 && view.step_bytes(d) > 0)
        nearest = nearest == 0 ? view.step_bytes(d) : std::min(nearest, view.step_bytes(d));
    }
    return nearest;
  }

  int64_t total_bytes(const Group& group) const {
    int64_t bytes = 0;
    for (const Piece& piece : group.pieces)
      bytes += sized_.views[piece.value].numel * sized_.views[piece.value].item;
    return bytes;
  }

  const Entry& entry_;
  const Concrete& sized_;
  int64_t cache_;
  When when_;
  std::vector<Cut> cuts_;
  std::vector<std::pair<size_t, size_t>> ends_;  // by storage: the first and the last call
};

}  // namespace

int64_t Group::blocks() const {
  int64_t count = chunks();
  for (size_t d = 0; d + 1 < space.size(); ++d) count *= space[d];
  return count;
}

const Group* Tiling::group_of(size_t call) const {
  for (const Group& group : groups)
    if (group.first <= call && call <= group.last) return &group;
  return nullptr;
}

bool Tiling::is_local(size_t storage) const {
  return std::any_of(groups.begin(), groups.end(),
                     [&](const Group& group) { return group.local[storage] >= 0; });
}

Tiling make_tiling(const Entry& entry, const Concrete& sized, int64_t cache, When when) {
  return Former(entry, sized, cache, when).make();
}

int64_t cache_bytes() {
  const long found = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return found > 0 ? static_cast<int64_t>(found) : kGuessedCache;
}

}  // namespace dl::graph
