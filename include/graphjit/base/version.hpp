// The version, in the one place that the build reads it from.
#pragma once

#define GRAPHJIT_VERSION_MAJOR 0
#define GRAPHJIT_VERSION_MINOR 1
#define GRAPHJIT_VERSION_PATCH 0
