#pragma once

#include "../run/access.h"
#include "lanes.h"

namespace sim {

/** Decode a scope: `.cta`, `.gpu`, … A cluster is one block here. */
inline bool take_scope(Decoder& decoder) {
  const int scope = decoder.take_one_of({"cta", "cluster", "gpu", "sys"});
  if (scope >= 0) decoder.out.own_block = scope < 2;
  return scope >= 0;
}

/** Decode a memory order: `.volatile`, `.relaxed`, `.acquire`, … */
inline bool take_order(Decoder& decoder) {
  const int order =
      decoder.take_one_of({"volatile", "relaxed", "acquire", "release", "acq_rel", "weak", "mmio"});
  if (order < 0) return false;
  Instruction& out = decoder.out;
  out.strong = out.strong || order != 5;
  out.relaxed = out.relaxed || order == 1;
  out.acquires = out.acquires || order == 2 || order == 4;
  out.releases = out.releases || order == 3 || order == 4;
  return true;
}

inline Space take_space(Decoder& decoder) {
  switch (decoder.take_one_of({"global", "shared", "shared::cta", "local", "const", "param",
                               "param::entry", "param::func"})) {
    case 0:
      return Space::kGlobal;
    case 1:
    case 2:
      return Space::kShared;
    case 3:
      return Space::kLocal;
    case 4:
      return Space::kConst;
    case 5:
    case 6:
    case 7:
      return Space::kParam;
    default:
      return Space::kGeneric;
  }
}

/** Decode a state space if the next word is one. */
inline bool maybe_space(Decoder& decoder) {
  const Space found = take_space(decoder);
  if (found == Space::kGeneric) return false;
  decoder.out.space = found;
  return true;
}

/** Skip cache hints. */
inline bool skip_cache_hints(Decoder& decoder) {
  bool any = false;
  while (decoder.take_one_of({"ca",
                              "cg",
                              "cs",
                              "lu",
                              "cv",
                              "wb",
                              "wt",
                              "nc",
                              "L1::evict_normal",
                              "L1::evict_unchanged",
                              "L1::evict_first",
                              "L1::evict_last",
                              "L1::no_allocate",
                              "L2::64B",
                              "L2::128B",
                              "L2::256B",
                              "L2::evict_last",
                              "L2::evict_first",
                              "L2::evict_normal",
                              "L2::cache_hint",
                              "unified"}) >= 0)
    any = true;
  return any;
}

}  // namespace sim
