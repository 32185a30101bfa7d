// The main() of every test program; on its own because doctest's implementation takes seconds to compile.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
