#include "dl/kit/companion.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "check.h"
#include "dl/kit/symbols.h"

namespace kit = dl::kit;

MAIN {
  const kit::Companion math{"TOY_MATH",
                            {"toy/lib/libtoy.so.1"},
                            {"libm.so.6", "/nowhere/libtoy.so"},
                            "`pip install toy`"};
  unsetenv("TOY_MATH");
  CHECK((math.names() == std::vector<std::string>{"libm.so.6"}));  // the others are not there
  CHECK(math.present());

  setenv("TOY_MATH", "off", 1);
  CHECK(math.names().empty() && !math.present());
  kit::Library none(math.names(), "toy library", math.way_out());
  const Said said = thrown([&] { none.find("sqrt"); });
  CHECK(said.code == DL_UNAVAILABLE && says(said, "no toy library can be opened"));
  CHECK(says(said, "`pip install toy` brings it, or TOY_MATH names one"));

  setenv("TOY_MATH", "libm.so.6", 1);  // would be searched for
  CHECK(math.names().empty());

  char place[] = "/tmp/companion-XXXXXX";
  CHECK(mkdtemp(place) != nullptr);
  const std::string own = std::string(place) + "/libtoy.so.1";
  std::ofstream(own) << "";
  setenv("TOY_MATH", own.c_str(), 1);
  CHECK(math.names() == std::vector<std::string>{own});
  // Where others can write, anything may be.
  CHECK(chmod(own.c_str(), 0666) == 0);
  CHECK(math.names().empty());
  unlink(own.c_str());
  rmdir(place);
}
