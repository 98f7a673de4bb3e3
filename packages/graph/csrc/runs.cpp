#include "runs.h"

#include <algorithm>

namespace dl::graph {
namespace {

constexpr int64_t kMostRuns = 4096;

void merge(Runs& runs) {
  std::sort(runs.begin(), runs.end());
  Runs out;
  for (const auto& each : runs) {
    if (each.first == each.second) continue;
    if (!out.empty() && each.first <= out.back().second) {
      out.back().second = std::max(out.back().second, each.second);
    } else {
      out.push_back(each);
    }
  }
  runs.swap(out);
}

}  // namespace

Runs runs_of(const ConcreteView& view) {
  if (view.numel == 0) return {};
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride and size
  for (size_t i = 0; i < view.shape.size(); ++i)
    if (view.shape[i] > 1 && view.strides[i] > 0) dims.emplace_back(view.strides[i], view.shape[i]);
  std::sort(dims.begin(), dims.end());
  int64_t length = 1;
  size_t outer = 0;
  // A dimension leaves no gap if its stride is at most the length of the inner dimensions.
  while (outer < dims.size() && dims[outer].first <= length) {
    length += dims[outer].first * (dims[outer].second - 1);
    ++outer;
  }
  __int128 count = 1;
  for (size_t i = outer; i < dims.size(); ++i) {
    count *= dims[i].second;
    if (count > kMostRuns) return {{view.begin, view.end}};
  }
  Runs out;
  std::vector<int64_t> at(dims.size(), 0);
  for (int64_t run = 0; run < static_cast<int64_t>(count); ++run) {
    int64_t offset = view.offset;
    for (size_t i = outer; i < dims.size(); ++i) offset += at[i] * dims[i].first;
    out.emplace_back(offset * view.item, (offset + length) * view.item);
    for (size_t i = outer; i < dims.size() && ++at[i] == dims[i].second; ++i) at[i] = 0;
  }
  merge(out);
  return out;
}

void add(Runs& runs, const Runs& more) {
  runs.insert(runs.end(), more.begin(), more.end());
  merge(runs);
}

bool covers(const Runs& runs, const Runs& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& each) {
    const auto after =
        std::upper_bound(runs.begin(), runs.end(), std::make_pair(each.first, INT64_MAX));
    return after != runs.begin() && std::prev(after)->second >= each.second;
  });
}

bool overlap(const Runs& a, const Runs& b) {
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].first < b[j].second && b[j].first < a[i].second) return true;
    a[i].second < b[j].second ? ++i : ++j;
  }
  return false;
}

}  // namespace dl::graph
