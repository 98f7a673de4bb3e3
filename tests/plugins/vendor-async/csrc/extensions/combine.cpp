#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "diopi/diopirt.h"
#include "dl/communicator.h"
#include "dl/dtype.h"
#include "extensions/communicator.h"
#include "extensions/meeting.h"
#include "lie.h"

namespace dl::async_test {
namespace {

template <class T>
T combine(T a, T b, int32_t reduce) {
  if (reduce == DL_REDUCE_MINIMUM) return b < a ? b : a;
  if (reduce == DL_REDUCE_MAXIMUM) return a < b ? b : a;
  if constexpr (std::is_floating_point_v<T>) {
    return reduce == DL_REDUCE_PRODUCT ? a * b : a + b;
  } else {
    // Unsigned arithmetic wraps without undefined behavior.
    const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return static_cast<T>(reduce == DL_REDUCE_PRODUCT ? x * y : x + y);
  }
}

/** Combines `count` elements of all shares from rank 0 on, so that all runs agree. */
template <class T>
void reduce_into(std::vector<std::byte>& result, const std::vector<Share>& shares, uint64_t count,
                 int32_t reduce) {
  for (uint64_t i = 0; i < count; ++i) {
    T all{};
    const size_t ranks = shares.size() - (lie_is(Lie::kReductionForgetsARank) ? 1 : 0);
    for (size_t rank = 0; rank < ranks; ++rank) {
      T one;
      std::memcpy(&one, shares[rank].send + i * sizeof(T), sizeof(T));
      all = rank == 0 ? one : combine(all, one, reduce);
    }
    if (reduce == DL_REDUCE_AVERAGE) all = static_cast<T>(all / static_cast<T>(shares.size()));
    std::memcpy(result.data() + i * sizeof(T), &all, sizeof(T));
  }
}

/** Calls `body` with a zero of the dtype; false if nothing is reduced in it. */
template <class Body>
bool with_reduced(int32_t dtype, const Body& body) {
  switch (dtype) {
    case diopi_dtype_int8:
      return body(int8_t{}), true;
    case diopi_dtype_uint8:
      return body(uint8_t{}), true;
    case diopi_dtype_int16:
      return body(int16_t{}), true;
    case diopi_dtype_uint16:
      return body(uint16_t{}), true;
    case diopi_dtype_int32:
      return body(int32_t{}), true;
    case diopi_dtype_uint32:
      return body(uint32_t{}), true;
    case diopi_dtype_int64:
      return body(int64_t{}), true;
    case diopi_dtype_uint64:
      return body(uint64_t{}), true;
    case diopi_dtype_float32:
      return body(float{}), true;
    case diopi_dtype_float64:
      return body(double{}), true;
    default:
      return false;
  }
}

std::vector<std::byte> reduced(const Terms& terms, const std::vector<Share>& shares,
                               uint64_t count) {
  std::vector<std::byte> result(count * static_cast<uint64_t>(dl_dtype_bytes(terms.dtype)));
  with_reduced(terms.dtype, [&](auto zero) {
    reduce_into<decltype(zero)>(result, shares, count, terms.reduce);
  });
  return result;
}

}  // namespace

bool can_reduce(int32_t dtype) {
  return with_reduced(dtype, [](auto) {});
}

// Everything is read before anything is written: buffers may alias.
void carry_out(const Terms& terms, const std::vector<Share>& shares) {
  const uint64_t part = terms.count * static_cast<uint64_t>(dl_dtype_bytes(terms.dtype));
  if (part == 0) return;
  const size_t ranks = shares.size();
  const auto root = static_cast<size_t>(std::max(terms.root, 0));
  const auto joined = [&](auto&& from) {
    std::vector<std::byte> all;
    for (size_t rank = 0; rank < ranks; ++rank) {
      const std::byte* first =
          from(lie_is(Lie::kPartsAreInTheWrongOrder) ? ranks - 1 - rank : rank);
      all.insert(all.end(), first, first + part);
    }
    return all;
  };
  const auto write = [&](size_t rank, const std::byte* from, uint64_t bytes) {
    std::memcpy(shares[rank].receive, from, bytes);
  };
  switch (terms.kind) {
    case Terms::kAllReduce:
    case Terms::kReduce: {
      const auto result = reduced(terms, shares, terms.count);
      for (size_t rank = 0; rank < ranks; ++rank) {
        if (terms.kind == Terms::kAllReduce || rank == root) write(rank, result.data(), part);
      }
      return;
    }
    case Terms::kReduceScatter: {
      const auto result = reduced(terms, shares, terms.count * ranks);
      for (size_t rank = 0; rank < ranks; ++rank) write(rank, result.data() + rank * part, part);
      return;
    }
    case Terms::kBroadcast: {
      const std::vector<std::byte> result(shares[root].send, shares[root].send + part);
      for (size_t rank = 0; rank < ranks; ++rank) write(rank, result.data(), part);
      return;
    }
    case Terms::kAllGather:
    case Terms::kGather: {
      const auto result = joined([&](size_t rank) { return shares[rank].send; });
      for (size_t rank = 0; rank < ranks; ++rank) {
        if (terms.kind == Terms::kAllGather || rank == root)
          write(rank, result.data(), result.size());
      }
      return;
    }
    case Terms::kScatter: {
      const auto result = joined([&](size_t rank) { return shares[root].send + rank * part; });
      for (size_t rank = 0; rank < ranks; ++rank) write(rank, result.data() + rank * part, part);
      return;
    }
    case Terms::kAllToAll: {
      std::vector<std::vector<std::byte>> results;
      for (size_t to = 0; to < ranks; ++to)
        results.push_back(joined([&](size_t from) { return shares[from].send + to * part; }));
      for (size_t rank = 0; rank < ranks; ++rank)
        write(rank, results[rank].data(), results[rank].size());
      return;
    }
    case Terms::kMessage:
      std::memmove(shares[1].receive, shares[0].send,
                   part - (lie_is(Lie::kMessageIsOneByteShort) ? 1 : 0));
      return;
  }
}

}  // namespace dl::async_test
