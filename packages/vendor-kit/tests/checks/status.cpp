#include <new>

#include "check.h"

namespace kit = dl::kit;

MAIN {
  CHECK(kit::guarded([] {}) == nullptr);

  const StatusInfo error =
      thrown([] { throw kit::Error(DL_UNAVAILABLE, "the cable is out", "plug"); });
  CHECK(error.code == DL_UNAVAILABLE && error.message == "the cable is out");
  CHECK(error.operation == "plug");

  CHECK(thrown([] { throw std::bad_alloc(); }).code == DL_OUT_OF_MEMORY);
  const StatusInfo other = thrown([] { throw std::runtime_error("words"); });
  CHECK(other.code == DL_ERROR && other.message == "words" && other.operation.empty());
  CHECK(mentions(thrown([] { throw 7; }), "not a std::exception"));

  // The message is a copy.
  char text[] = "gone soon";
  dl_status_t* status = kit::make_status(DL_ERROR, text);
  text[0] = '\0';
  CHECK(status->struct_size == sizeof(dl_status_t) && status->details == nullptr);
  CHECK(take(status).message == "gone soon");
}
