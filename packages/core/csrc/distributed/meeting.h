// Agreement of the ranks of a group on the vendor's communicator, through the group's store.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "distributed/communicator.h"

namespace dl::core::distributed {

// Every rank creates one with its group. The ranks meet at the first call on devices, which is the
// same call on all ranks: either all get a communicator, or none does and all use gloo.
class Meeting {
 public:
  // `offer`: true if this rank accepts a communicator when its devices have one.
  Meeting(c10::intrusive_ptr<c10d::Store> store, int rank, int ranks, bool offer);

  // Returns the group's communicator for a device, or NULL. The first call waits for all ranks.
  // Throws if the communicator is on another device, or if a rank does not join in time.
  std::shared_ptr<Communicator> communicator(int device, std::chrono::milliseconds timeout);
  // Returns false if this rank offers no communicator, or if the ranks have agreed on none.
  bool may_agree() const { return !offer_.empty() && (!met_ || made_ != nullptr); }
  // The communicator if it exists already, otherwise NULL.
  const std::shared_ptr<Communicator>& made() const { return made_; }

 private:
  bool all_offer_the_same(std::chrono::milliseconds timeout);
  void make(int device, std::chrono::milliseconds timeout);
  std::string key(const char* what, int rank) const;
  std::string heard(const std::string& key, std::chrono::milliseconds timeout);
  void say(const std::string& key, const std::string& value);

  c10::intrusive_ptr<c10d::Store> store_;
  int rank_;
  int ranks_;
  std::string offer_;
  bool met_ = false;
  std::shared_ptr<Communicator> made_;
};

}  // namespace dl::core::distributed
