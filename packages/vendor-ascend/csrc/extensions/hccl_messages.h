// Messages between ranks of HCCL communicators, in batches.
#ifndef DL_ASCEND_EXTENSIONS_HCCL_MESSAGES_H_
#define DL_ASCEND_EXTENSIONS_HCCL_MESSAGES_H_

#include <memory>
#include <vector>

#include "extensions/hccl_communicator.h"

namespace dl::ascend {

class Vendor;

// Messages of an open group wait for its end, and become batches, because a rank that first sends
// and then receives may wait for itself. Single messages are batches too: HCCL does not match a
// batch with its functions for single messages.
class HcclMessages {
 public:
  struct Message {
    std::shared_ptr<HcclCommunicator> communicator;
    hccl::Item item;  // the type is kInt8
    acl::Stream stream;
  };

  // Opens a group of this thread; groups nest.
  static void begin();
  // Closes a group, and enqueues the messages of the outermost one. Throws Error.
  static void end(Vendor& vendor);
  // Enqueues messages at once, or adds them to the thread's open group.
  static void add(Vendor& vendor, const std::vector<Message>& messages);
};

}  // namespace dl::ascend

#endif  // DL_ASCEND_EXTENSIONS_HCCL_MESSAGES_H_
