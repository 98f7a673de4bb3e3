// A vendor of float32 and int32, with memory of its own and work that waits: the torch-free host's
// tests have it too.
#define FIXTURE_NAME "stub"
#define FIXTURE_CAPABILITIES 0
#define FIXTURE_HIDDEN 1
#define FIXTURE_DEFERRED 1
#define FIXTURE_OPERATORS "narrow.inc"
#include "../../packages/diopi-proto/tests/fixtures/vendor.cpp"
