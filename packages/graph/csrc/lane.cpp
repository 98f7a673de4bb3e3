#include "lane.h"

#include <algorithm>

#include "fields.h"

namespace dl::graph {
namespace {

constexpr uint64_t kPage = 4096;
constexpr int64_t kLine = 64;

}  // namespace

Lane::Lane(const Device& device, const Entry& entry, const Concrete& sized, const Group& group,
           const Plan& plan, std::deque<dl_generator_prefix_t>& generators)
    : device_(device),
      entry_(entry),
      sized_(sized),
      group_(group),
      context_(device),
      binder_(device, sized.sizes, generators),
      memory_(device, static_cast<uint64_t>(plan.bytes) + kPage),
      rows_(group.rows),
      index_(group.space.size(), 0) {
  make_handles(plan);
  find_rows();
  for (size_t number = group.first; number <= group.last; ++number) {
    auto use = group.uses[number - group.first].begin();
    calls_.push_back(within(call_text(entry, number), [&] {
      return binder_.bind(entry.calls[number], [&](size_t) -> Handle& { return handles_[*use++]; });
    }));
  }
}

void Lane::make_handles(const Plan& plan) {
  // At the start of a page, like large tensors: otherwise loads may falsely depend on earlier
  // stores with the same offset in another page (4K aliasing).
  char* const base =
      memory_.data() + (kPage - reinterpret_cast<uintptr_t>(memory_.data()) % kPage) % kPage;
  for (const Piece& piece : group_.pieces) {
    const View& view = entry_.values[piece.value];
    const ConcreteView& whole = sized_.views[piece.value];
    Moving moving{nullptr, piece.value, group_.local[view.storage] >= 0, piece.dims.back(), {}};
    std::vector<int64_t> shape = whole.shape;
    for (size_t d = 0; d < piece.dims.size(); ++d) {
      const bool last = d + 1 == piece.dims.size();
      const auto dim = static_cast<size_t>(std::max(piece.dims[d], 0));
      const bool cut = piece.dims[d] >= 0;
      moving.steps.push_back(cut ? whole.step_bytes(dim) * (last ? group_.rows : 1) : 0);
      if (cut) shape[dim] = last ? group_.rows : 1;
    }
    int64_t bytes = whole.item;
    for (size_t d = 0; d < shape.size(); ++d) bytes += (shape[d] - 1) * whole.step_bytes(d);
    Handle& made = handles_.emplace_back(handle_ops(), view.dtype, std::move(shape), whole.strides,
                                         0, bytes, diopi_device, device_.target().device);
    if (moving.is_local) made.move_to(base + plan.offsets[view.storage] + whole.begin);
    moving.handle = &made;
    moving_.push_back(std::move(moving));
  }
}

void Lane::find_rows() {
  for (const Moving& moving : moving_) {
    const bool moves = std::any_of(moving.steps.begin(), moving.steps.end(),
                                   [](int64_t step) { return step != 0; });
    const dl_tensor_prefix_t& shown = *moving.handle->prefix();
    const int64_t item = sized_.views[moving.value].item;
    if (!moving.is_local && moves && shown.storage_bytes == shown.numel * item)
      ahead_.push_back({&moving, (shown.storage_bytes + kLine - 1) / kLine, nullptr});
  }
}

void Lane::set_rows(int64_t rows) {
  if (rows == rows_) return;
  rows_ = rows;
  for (const Moving& each : moving_)
    if (each.cut >= 0) each.handle->resize(static_cast<size_t>(each.cut), rows);
}

void Lane::set_index(int64_t block) {
  const int64_t chunks = group_.chunks();
  index_.back() = block % chunks;
  int64_t rest = block / chunks;
  for (size_t d = index_.size() - 1; d-- > 0;) {
    index_[d] = rest % group_.space[d];
    rest /= group_.space[d];
  }
}

char* Lane::place(const Moving& moving, const std::deque<Handle>& whole) const {
  int64_t offset = 0;
  for (size_t d = 0; d < index_.size(); ++d) offset += index_[d] * moving.steps[d];
  return static_cast<char*>(whole[moving.value].data()) + offset;
}

void Lane::move_to(const std::deque<Handle>& whole, int64_t block) {
  set_index(block + 1 < group_.blocks() ? block + 1 : block);
  for (Rows& rows : ahead_) rows.next = place(*rows.moving, whole);
  set_index(block);
  set_rows(std::min(group_.rows, group_.space.back() - index_.back() * group_.rows));
  for (const Moving& each : moving_)
    if (!each.is_local) each.handle->move_to(place(each, whole));
}

// Inlined: as a separate function without side effects, the compiler could remove its calls.
__attribute__((always_inline)) inline void Lane::fetch(size_t call) const {
  const auto number = static_cast<int64_t>(call);
  const auto count = static_cast<int64_t>(calls_.size());
  for (const Rows& rows : ahead_) {
    const int64_t end = rows.lines * (number + 1) / count;
    for (int64_t line = rows.lines * number / count; line < end; ++line)
      __builtin_prefetch(rows.next + line * kLine, 0, 2);
  }
}

void Lane::run(const std::deque<Handle>& whole, int64_t begin, int64_t end) {
  const diopiContextHandle_t ctx = context_.handle();
  for (int64_t block = begin; block < end; ++block) {
    move_to(whole, block);
    for (size_t i = 0; i < calls_.size(); ++i) {
      fetch(i);
      device_.make_current();
      context_.begin_call();
      const diopiError_t code = calls_[i].invoke(calls_[i].function, ctx, calls_[i].values);
      if (code != diopiSuccess)
        throw call_failure(device_, entry_, group_.first + i, code, context_);
    }
  }
}

void Lane::poison(int value) { device_.fill(memory_.data(), value, memory_.bytes()); }

}  // namespace dl::graph
