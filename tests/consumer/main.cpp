#include <graphjit/graph.hpp>
int main() { return (int)GRAPHJIT_VERSION_MAJOR * 0; }  // an old-style cast: our own warnings must not reach a user
