#ifndef DL_ASYNC_TEST_EXTENSIONS_WIRE_H_
#define DL_ASYNC_TEST_EXTENSIONS_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "extensions/meeting.h"
#include "file.h"
#include "nonce.h"

namespace dl::async_test {

/** Contents of a communicator's id; the remaining bytes are zero. */
struct WorldName {
  char word[32];
  uint32_t user;
  int32_t process;  // process where the ranks meet; it created the id with unique_id
  uint64_t number;
  Nonce nonce;  // nonce of `process`
};

/** Request of a rank to the process where the ranks meet. After a kCall request, the rank sends the
 * bytes that the call sends. */
struct Request {
  enum Kind : int32_t { kJoin, kCall, kAbort };

  Nonce nonce;
  Kind kind;
  int32_t ranks;
  uint64_t number;
  int32_t rank;
  int32_t place;
  int32_t from;
  int32_t to;
  uint64_t index;
  double seconds;
  Terms terms;
};

/** Reply to a request. The bytes after it are the error message or, after a successful kCall, the
 * bytes that the call receives. */
struct Reply {
  int32_t code;
  uint32_t message_bytes;
};

/** A socket to another process of this user. All waits return when that process ends, even if it
 * was killed. */
class Connection {
 public:
  /** Throws Error if the process has ended or belongs to another user. */
  static Connection to(const WorldName& name);
  /** Wraps an accepted socket. Throws Error if the process belongs to another user. */
  explicit Connection(File socket);

  int32_t process() const { return process_; }

  /** These throw Error(DL_UNAVAILABLE) if the other side has closed. */
  void send(const void* bytes, size_t size);
  void receive(void* bytes, size_t size);
  void reply(int32_t code, const std::string& message);
  /** Throw the error in the reply. */
  void receive_reply();

  /** Return once the other side has ended or closed. */
  void wait_for_end();
  void close();

 private:
  bool readable();  // waits; false: the other process has ended

  File socket_;
  File end_;  // readable once the other process has ended
  int32_t process_ = 0;
};

/** Return a listening socket to which other processes connect by `nonce`. */
File listen_as(const Nonce& nonce);

}  // namespace dl::async_test

#endif
