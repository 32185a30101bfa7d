// The launch dims that are constants, against a backend's limits.
#pragma once

#include <graphjit/run/contract.hpp>

#include <cstring>

namespace graphjit::inline v0::detail {

[[nodiscard]] constexpr const char* dims_sentence(unsigned dim) noexcept {
    return dim == dim_count - 1 ? "a launch asks for more shared memory than the backend's limit"
                                : "launch dims are beyond the backend's limit";
}

/// Dims that depend on Variables are checked at replay; this is for the others.
/// Errors: dims_limit.
[[nodiscard]] inline Status check_recorded_dims(const OpList& list, OpIndex op, const BackendLimits& limits) noexcept {
    const OpRecord& record = list.op(op);
    if (record.info->dims_offset == KernelInfo::no_dims) return {};
    std::uint32_t dims[dim_count] = {};
    static_assert(sizeof dims == sizeof(LaunchDims));
    std::memcpy(dims, list.block(op) + record.info->dims_offset, sizeof dims);
    std::uint64_t items = 1;
    for (unsigned i = 0; i < dim_count; ++i) {
        Error error;
        if (const std::int64_t most = dim_bounds(limits, i).max; dims[i] > most) {
            error = list.error(ErrorCode::dims_limit, dims_sentence(i), op);
            error.limit = most;
        }
        if (is_group_dim(i) && dims[i] != 0 && items > limits.group_items / dims[i]) {
            error = list.error(ErrorCode::dims_limit, "a group has more work-items than the backend's limit", op);
            error.limit = static_cast<std::int64_t>(limits.group_items);
        }
        if (error.code != ErrorCode::ok) {
            error.has_value = true;
            error.value = dims[i];
            return error;
        }
        if (is_group_dim(i) && dims[i] != 0) items *= dims[i];
    }
    return {};
}

}  // namespace graphjit::inline v0::detail
