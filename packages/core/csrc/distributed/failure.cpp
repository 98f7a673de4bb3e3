#include "distributed/failure.h"

#include <c10/util/Exception.h>

#include <sstream>

namespace dl::core::distributed {
namespace {

std::string seconds(std::chrono::milliseconds span) {
  std::ostringstream text;
  text << static_cast<double>(span.count()) / 1000 << " s";
  return text.str();
}

std::string words_for(const CallFacts& call, const GroupFacts& group) {
  std::ostringstream text;
  text << "[dicl] " << call.description << " of rank " << group.rank;
  if (call.peer >= 0)
    text << " with rank " << call.peer;
  else if (group.size == 2)
    text << " with rank " << 1 - group.rank;
  else if (group.size > 2)
    text << " with all others of ranks 0 to " << group.size - 1;
  text << " of group " << group.name << " (" << group.size << (group.size == 1 ? " rank" : " ranks")
       << ", call " << group.sequence << ")";
  return text.str();
}

// The first line of the message: the lines after it are stack frames of the library that failed.
std::string first_line_of(const std::exception_ptr& error) {
  std::string text;
  try {
    std::rethrow_exception(error);
  } catch (const c10::Error& known) {
    text = known.what_without_backtrace();
  } catch (const std::exception& known) {
    text = known.what();
  } catch (...) {
    text = "an unknown error";
  }
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::exception_ptr explain(std::exception_ptr error, const CallFacts& call,
                           const GroupFacts& group) {
  const std::string said = first_line_of(error);
  if (said.rfind("[dicl]", 0) == 0) return error;
  return explain(said.rfind("[", 0) == 0 ? "gloo" : "torch", said, call, group);
}

std::exception_ptr explain(const std::string& library, const std::string& said,
                           const CallFacts& call, const GroupFacts& group) {
  const bool late = said.empty() || said.find("imed out") != std::string::npos ||
                    said.find("imeout") != std::string::npos;
  const std::string timeout = seconds(group.timeout);
  try {
    TORCH_CHECK_WITH(
        DistBackendError, false, words_for(call, group), " failed: ",
        late ? "not every rank joined within the timeout of " + timeout
             : "another rank has exited, has left the group, or has called another collective "
               "(timeout " +
                   timeout + ")",
        ". The error of the rank that failed first has the cause; all ranks have to recreate the "
        "group afterwards",
        said.empty() ? "" : ". " + library + " says: " + said);
  } catch (...) {
    return std::current_exception();
  }
}

void raise_late(const CallFacts& call, const GroupFacts& group, std::chrono::milliseconds waited) {
  TORCH_CHECK_WITH(DistBackendError, false, words_for(call, group),
                   " has not completed within the ", seconds(waited),
                   " passed to wait(); it continues");
}

}  // namespace dl::core::distributed
