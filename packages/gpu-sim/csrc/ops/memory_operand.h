#pragma once

#include "../run/access.h"
#include "lanes.h"

namespace sim {

/** `.volatile`, `.relaxed.gpu`, `.acquire.sys`, …: how strong an access is, and for whom. */
inline void take_order(Decoder& decoder, bool atomic) {
  const int order =
      decoder.take_one_of({"volatile", "relaxed", "acquire", "release", "acq_rel", "weak"});
  Instruction& out = decoder.out;
  out.strong = atomic || (order >= 0 && order != 5);
  out.acquires = order == 2 || order == 4;
  out.releases = order == 3 || order == 4;
  if (decoder.take("mmio")) out.strong = true;
  decoder.take_one_of({"cta", "cluster", "gpu", "sys"});
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

/** Hints to caches. */
inline void skip_cache_hints(Decoder& decoder) {
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
                              "unified"}) >= 0) {
  }
}

}  // namespace sim
