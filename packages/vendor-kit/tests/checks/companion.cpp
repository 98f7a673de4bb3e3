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
  CHECK((math.names() == std::vector<std::string>{"libm.so.6"}));  // the other names do not exist
  CHECK(math.present());

  setenv("TOY_MATH", "off", 1);
  CHECK(math.names().empty() && !math.present());
  kit::Library none(math.names(), "toy library", math.remedy());
  const StatusInfo status = thrown([&] { none.find("sqrt"); });
  CHECK(status.code == DL_UNAVAILABLE && mentions(status, "no toy library can be opened"));
  CHECK(mentions(status, "`pip install toy` provides it, or set TOY_MATH"));

  setenv("TOY_MATH", "libm.so.6", 1);  // a soname, which would be searched for
  CHECK(math.names().empty());

  char place[] = "/tmp/companion-XXXXXX";
  CHECK(mkdtemp(place) != nullptr);
  const std::string own = std::string(place) + "/libtoy.so.1";
  std::ofstream(own) << "";
  setenv("TOY_MATH", own.c_str(), 1);
  CHECK(math.names() == std::vector<std::string>{own});
  // In a folder that other users can write to, the file is not trusted.
  CHECK(chmod(own.c_str(), 0666) == 0);
  CHECK(math.names().empty());
  unlink(own.c_str());
  rmdir(place);
}
