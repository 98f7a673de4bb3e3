#include "specials.h"

#include <map>

namespace sim {

uint32_t place_of_special(std::string_view name, unsigned bytes) {
  static const std::map<std::string_view, Special> kNames = {
      {"%tid.x", Special::kTidX},
      {"%tid.y", Special::kTidY},
      {"%tid.z", Special::kTidZ},
      {"%ntid.x", Special::kNtidX},
      {"%ntid.y", Special::kNtidY},
      {"%ntid.z", Special::kNtidZ},
      {"%ctaid.x", Special::kCtaidX},
      {"%ctaid.y", Special::kCtaidY},
      {"%ctaid.z", Special::kCtaidZ},
      {"%nctaid.x", Special::kNctaidX},
      {"%nctaid.y", Special::kNctaidY},
      {"%nctaid.z", Special::kNctaidZ},
      {"%laneid", Special::kLane},
      {"%warpid", Special::kWarp},
      {"%nwarpid", Special::kWarps},
      {"%smid", Special::kSm},
      {"%nsmid", Special::kSms},
      {"%gridid", Special::kGrid},
      {"%lanemask_eq", Special::kEqual},
      {"%lanemask_lt", Special::kLess},
      {"%lanemask_le", Special::kLessEqual},
      {"%lanemask_gt", Special::kGreater},
      {"%lanemask_ge", Special::kGreaterEqual},
      {"%dynamic_smem_size", Special::kDynamicShared},
      {"%total_smem_size", Special::kTotalShared},
      // Address of the workspace for cooperative launches.
      {"%envreg0", Special::kZero},
      {"%envreg1", Special::kWorkspaceHigh},
      {"%envreg2", Special::kWorkspaceLow},
      // Every block is a cluster of its own.
      {"%clusterid.x", Special::kCtaidX},
      {"%clusterid.y", Special::kCtaidY},
      {"%clusterid.z", Special::kCtaidZ},
      {"%nclusterid.x", Special::kNctaidX},
      {"%nclusterid.y", Special::kNctaidY},
      {"%nclusterid.z", Special::kNctaidZ},
      {"%cluster_ctaid.x", Special::kZero},
      {"%cluster_ctaid.y", Special::kZero},
      {"%cluster_ctaid.z", Special::kZero},
      {"%cluster_nctaid.x", Special::kOne},
      {"%cluster_nctaid.y", Special::kOne},
      {"%cluster_nctaid.z", Special::kOne},
      {"%cluster_ctarank", Special::kZero},
      {"%cluster_nctarank", Special::kOne},
  };
  const auto found = kNames.find(name);
  if (found == kNames.end()) return kNoPlace;
  const uint32_t first = static_cast<uint32_t>(found->second) * kSpecialBytes;
  // No special register is narrower than 32 bits.
  if (bytes == 4) return first;
  return bytes == 8 ? first + kLanes * 4 : kNoPlace;
}

}  // namespace sim
