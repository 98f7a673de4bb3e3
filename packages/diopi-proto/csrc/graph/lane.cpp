#include "graph/lane.h"

#include <algorithm>

#include "graph/fields.h"

namespace dl::graph {
namespace {

constexpr uint64_t kPage = 4096;

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
  for (size_t number = group.first; number <= group.last; ++number) {
    auto use = group.uses[number - group.first].begin();
    calls_.push_back(within(call_text(entry, number), [&] {
      return binder_.bind(entry.calls[number], [&](size_t) -> Handle& { return handles_[*use++]; });
    }));
  }
}

void Lane::make_handles(const Plan& plan) {
  // At the start of a page, as large tensors are: the processor takes a read for dependent on a
  // write that is the same distance from the start of another page.
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

void Lane::set_rows(int64_t rows) {
  if (rows == rows_) return;
  rows_ = rows;
  for (const Moving& each : moving_)
    if (each.cut >= 0) each.handle->resize(static_cast<size_t>(each.cut), rows);
}

void Lane::move_to(const std::deque<Handle>& whole, int64_t block) {
  const int64_t chunks = group_.chunks();
  index_.back() = block % chunks;
  int64_t rest = block / chunks;
  for (size_t d = index_.size() - 1; d-- > 0;) {
    index_[d] = rest % group_.space[d];
    rest /= group_.space[d];
  }
  set_rows(std::min(group_.rows, group_.space.back() - index_.back() * group_.rows));
  for (const Moving& each : moving_) {
    if (each.is_local) continue;
    int64_t offset = 0;
    for (size_t d = 0; d < index_.size(); ++d) offset += index_[d] * each.steps[d];
    each.handle->move_to(static_cast<char*>(whole[each.value].data()) + offset);
  }
}

void Lane::run(const std::deque<Handle>& whole, int64_t begin, int64_t end) {
  const diopiContextHandle_t ctx = context_.handle();
  for (int64_t block = begin; block < end; ++block) {
    move_to(whole, block);
    for (size_t i = 0; i < calls_.size(); ++i) {
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
