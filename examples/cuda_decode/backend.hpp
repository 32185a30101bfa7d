// The backend that was asked for: -DGRAPHJIT_EXAMPLE_BACKEND=cuda, cpu or threads. Each header has
//   `Backend`, `backend_name`
//   `returns_early`         whether `replay` returns before the graph has run
//   `host_memory`           the device that memory of the host counts to
//   `Device`                `open(kernels)` prepares it; `backend()`; `kernel<body>(name)` is a kernel to launch
//   `DeviceArray`           floats where kernels reach them
//   `HostArray`             floats where the host reads them and copies reach them
//   `native_note(graph)`    what the backend has to say of a graph beyond its counters, or nothing
#pragma once

#ifndef GRAPHJIT_EXAMPLE_BACKEND
#define GRAPHJIT_EXAMPLE_BACKEND cpu
#endif
#define DECODE_TEXT(words) #words
#define DECODE_HEADER_OF(backend) DECODE_TEXT(backend_##backend.hpp)
#define DECODE_HEADER(backend) DECODE_HEADER_OF(backend)

#include DECODE_HEADER(GRAPHJIT_EXAMPLE_BACKEND)
