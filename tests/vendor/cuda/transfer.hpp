// What copies and sets are checked for when they are asked for.
#pragma once

#include "state.hpp"

namespace test::cuda {

/// Checks a copy and says where its unified operands are. A copy of nothing is fine.
[[nodiscard]] CUresult resolve(CUDA_MEMCPY3D& what);

/// One row of bytes between two operands whose kinds are declared.
[[nodiscard]] CUDA_MEMCPY3D flat_copy(CUmemorytype to, std::uintptr_t dst, CUmemorytype from, std::uintptr_t src,
                                      std::size_t bytes);

[[nodiscard]] CUresult check_set(const CUDA_MEMSET_NODE_PARAMS& what);

struct Operand {
    bool is_host;
    std::uintptr_t address;
    std::size_t pitch, slice;
};
[[nodiscard]] Operand source(const CUDA_MEMCPY3D& what);
[[nodiscard]] Operand destination(const CUDA_MEMCPY3D& what);

/// The first byte to behind the last one.
[[nodiscard]] std::size_t span_of(const Operand& operand, const CUDA_MEMCPY3D& what);

[[nodiscard]] inline bool is_pageable(const Allocation* allocation) { return allocation == nullptr; }

}  // namespace test::cuda
