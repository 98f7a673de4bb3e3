#ifndef DL_ASYNC_TEST_EXTENSIONS_WIRE_H_
#define DL_ASYNC_TEST_EXTENSIONS_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "extensions/meeting.h"
#include "file.h"
#include "nonce.h"

namespace dl::async_test {

/** What the bytes of a communicator's id hold; the rest is zero. */
struct WorldName {
  char word[32];
  uint32_t user;
  int32_t process;  // where the ranks meet: that of unique_id
  uint64_t number;
  Nonce nonce;  // of that process
};

/** What a rank asks of the process where its world is; bytes to send follow a call. */
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

/** The answer; a message follows, or without an error what a call receives. */
struct Reply {
  int32_t code;
  uint32_t message_bytes;
};

/** A socket to another process of this user. Its end, also by a kill, ends every wait. */
class Connection {
 public:
  /** Throws Error if the process is gone or of another user. */
  static Connection to(const WorldName& name);
  /** Of an accepted socket. Throws Error if the process is of another user. */
  explicit Connection(File socket);

  int32_t process() const { return process_; }

  /** These throw Error(DL_UNAVAILABLE) if the other side is gone. */
  void send(const void* bytes, size_t size);
  void receive(void* bytes, size_t size);
  void reply(int32_t code, const std::string& message);
  /** Throws what the reply says. */
  void receive_reply();

  /** Returns once the other side is gone or has closed. */
  void wait_for_end();
  void close();

 private:
  bool readable();  // waits; false: the other process has ended

  File socket_;
  File end_;  // readable once the other process has ended
  int32_t process_ = 0;
};

/** A socket on which a process with that nonce is found. */
File listen_as(const Nonce& nonce);

}  // namespace dl::async_test

#endif
