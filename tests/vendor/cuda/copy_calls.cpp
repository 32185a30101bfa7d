// Copies and sets outside of graphs. What waits for what: the manual's "API synchronization behavior".
#include "engine.hpp"
#include "graph.hpp"
#include "memory.hpp"
#include "transfer.hpp"

using namespace test::cuda;

namespace {

std::uintptr_t address_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

bool is_pageable_host(const Operand& operand) { return operand.is_host && find_live(operand.address) == nullptr; }

/// On the legacy stream. Device to device waits for nothing; from pageable memory it waits until that was read.
CUresult copy_now(Call& call, CUDA_MEMCPY3D what) {
    if (const CUresult error = check_unsafe_in_capture(); error != CUDA_SUCCESS) return error;
    if (const CUresult error = resolve(what); error != CUDA_SUCCESS) return error;
    const StreamPtr stream = call.context->legacy;
    CommandPtr wait_for;
    const Operand from = source(what), to = destination(what);
    const std::size_t bytes = span_of(from, what);
    const bool staged = is_pageable_host(from) && !to.is_host && what.Height == 1 && what.Depth == 1;
    if (staged) {
        if (const CUresult error = check_usable(stream); error != CUDA_SUCCESS) return error;
        const auto staging = std::make_shared<std::vector<std::byte>>(bytes);
        wait_for = append(stream, [staging, from] {
            if (!staging->empty())
                std::memcpy(staging->data(), reinterpret_cast<const void*>(from.address), staging->size());
        });
        submit(wait_for);
        CUDA_MEMCPY3D second = what;
        second.srcHost = staging->data();
        second.srcXInBytes = 0;
        const auto copy = work_of(CopyParams{second, call.context, second});
        submit(append(stream, [staging, copy] { copy(); }));
    } else {
        CommandPtr done;
        if (const CUresult error = enqueue(stream, CopyParams{what, call.context, what}, &done); error != CUDA_SUCCESS)
            return error;
        if (from.is_host || to.is_host) wait_for = done;
    }
    call.wait_for(wait_for);
    return call.done();
}

/// In the stream. Host to host is synchronous; all else is asynchronous, from pageable memory too, where it might not
/// be.
CUresult copy_later(Call& call, CUDA_MEMCPY3D what, CUstream hStream) {
    const StreamPtr stream = find_stream(hStream);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (const CUresult error = resolve(what); error != CUDA_SUCCESS) return error;
    CommandPtr done;
    const CUresult error = enqueue(stream, CopyParams{what, stream->context.lock(), what}, &done);
    if (error != CUDA_SUCCESS) return error;
    if (source(what).is_host && destination(what).is_host) call.wait_for(done);
    return call.done();
}

/// A peer copy names the contexts that own the two operands.
CUresult check_owners(CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src, CUcontext src_context) {
    State& s = state();
    if (!s.contexts.find(dst_context) || !s.contexts.find(src_context)) return CUDA_ERROR_INVALID_CONTEXT;
    const auto owned = [](CUdeviceptr pointer, CUcontext context) {
        const Allocation* found = find_live(pointer);
        return found != nullptr && found->kind == Allocation::device && found->context->handle == context;
    };
    return owned(dst, dst_context) && owned(src, src_context) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUDA_MEMSET_NODE_PARAMS flat_set(CUdeviceptr dst, unsigned value, unsigned size, std::size_t count) {
    CUDA_MEMSET_NODE_PARAMS what{};
    what.dst = dst;
    what.value = value;
    what.elementSize = size;
    what.width = count;
    what.height = 1;
    return what;
}

/// "Asynchronous with respect to the host except when the target is pinned host memory".
CUresult set_now(const char* name, const CUDA_MEMSET_NODE_PARAMS& what) {
    Call call(name);
    if (call.refused()) return call.error;
    if (const CUresult error = check_unsafe_in_capture(); error != CUDA_SUCCESS) return error;
    if (const CUresult error = check_set(what); error != CUDA_SUCCESS) return error;
    CommandPtr done;
    const CUresult error = enqueue(call.context->legacy, SetParams{what, call.context}, &done);
    if (error != CUDA_SUCCESS) return error;
    const Allocation* target = find_live(what.dst);
    if (target != nullptr && target->kind != Allocation::device) call.wait_for(done);
    return call.done();
}

CUresult set_later(const char* name, const CUDA_MEMSET_NODE_PARAMS& what, CUstream hStream) {
    const Call call(name);
    if (call.refused()) return call.error;
    const StreamPtr stream = find_stream(hStream);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (const CUresult error = check_set(what); error != CUDA_SUCCESS) return error;
    return enqueue(stream, SetParams{what, stream->context.lock()});
}

constexpr CUmemorytype host = CU_MEMORYTYPE_HOST, device = CU_MEMORYTYPE_DEVICE, unified = CU_MEMORYTYPE_UNIFIED;

}  // namespace

// --- synchronous -----------------------------------------------------------------------------------------------------

CUDA_CALL cuMemcpy(CUdeviceptr dst, CUdeviceptr src, std::size_t ByteCount) {
    Call call("cuMemcpy");
    return call.refused() ? call.error : copy_now(call, flat_copy(unified, dst, unified, src, ByteCount));
}

CUDA_CALL cuMemcpyHtoD(CUdeviceptr dstDevice, const void* srcHost, std::size_t ByteCount) {
    Call call("cuMemcpyHtoD");
    return call.refused() ? call.error
                          : copy_now(call, flat_copy(device, dstDevice, host, address_of(srcHost), ByteCount));
}

CUDA_CALL cuMemcpyDtoH(void* dstHost, CUdeviceptr srcDevice, std::size_t ByteCount) {
    Call call("cuMemcpyDtoH");
    return call.refused() ? call.error
                          : copy_now(call, flat_copy(host, address_of(dstHost), device, srcDevice, ByteCount));
}

CUDA_CALL cuMemcpyDtoD(CUdeviceptr dstDevice, CUdeviceptr srcDevice, std::size_t ByteCount) {
    Call call("cuMemcpyDtoD");
    return call.refused() ? call.error : copy_now(call, flat_copy(device, dstDevice, device, srcDevice, ByteCount));
}

CUDA_CALL cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                       std::size_t ByteCount) {
    Call call("cuMemcpyPeer");
    if (call.refused()) return call.error;
    const CUresult error = check_owners(dstDevice, dstContext, srcDevice, srcContext);
    return error != CUDA_SUCCESS ? error : copy_now(call, flat_copy(device, dstDevice, device, srcDevice, ByteCount));
}

CUDA_CALL cuMemcpy3D(const CUDA_MEMCPY3D* pCopy) {
    Call call("cuMemcpy3D");
    if (call.refused()) return call.error;
    return pCopy == nullptr ? CUDA_ERROR_INVALID_VALUE : copy_now(call, *pCopy);
}

CUDA_CALL cuMemsetD8(CUdeviceptr dstDevice, unsigned char uc, std::size_t N) {
    return set_now("cuMemsetD8", flat_set(dstDevice, uc, 1, N));
}

CUDA_CALL cuMemsetD16(CUdeviceptr dstDevice, unsigned short us, std::size_t N) {
    return set_now("cuMemsetD16", flat_set(dstDevice, us, 2, N));
}

CUDA_CALL cuMemsetD32(CUdeviceptr dstDevice, unsigned int ui, std::size_t N) {
    return set_now("cuMemsetD32", flat_set(dstDevice, ui, 4, N));
}

// --- in a stream -----------------------------------------------------------------------------------------------------

CUDA_CALL cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, std::size_t ByteCount, CUstream hStream) {
    Call call("cuMemcpyAsync");
    return call.refused() ? call.error : copy_later(call, flat_copy(unified, dst, unified, src, ByteCount), hStream);
}

CUDA_CALL cuMemcpyHtoDAsync(CUdeviceptr dstDevice, const void* srcHost, std::size_t ByteCount, CUstream hStream) {
    Call call("cuMemcpyHtoDAsync");
    if (call.refused()) return call.error;
    return copy_later(call, flat_copy(device, dstDevice, host, address_of(srcHost), ByteCount), hStream);
}

CUDA_CALL cuMemcpyDtoHAsync(void* dstHost, CUdeviceptr srcDevice, std::size_t ByteCount, CUstream hStream) {
    Call call("cuMemcpyDtoHAsync");
    if (call.refused()) return call.error;
    return copy_later(call, flat_copy(host, address_of(dstHost), device, srcDevice, ByteCount), hStream);
}

CUDA_CALL cuMemcpyDtoDAsync(CUdeviceptr dstDevice, CUdeviceptr srcDevice, std::size_t ByteCount, CUstream hStream) {
    Call call("cuMemcpyDtoDAsync");
    if (call.refused()) return call.error;
    return copy_later(call, flat_copy(device, dstDevice, device, srcDevice, ByteCount), hStream);
}

CUDA_CALL cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                            std::size_t ByteCount, CUstream hStream) {
    Call call("cuMemcpyPeerAsync");
    if (call.refused()) return call.error;
    const CUresult error = check_owners(dstDevice, dstContext, srcDevice, srcContext);
    if (error != CUDA_SUCCESS) return error;
    return copy_later(call, flat_copy(device, dstDevice, device, srcDevice, ByteCount), hStream);
}

CUDA_CALL cuMemcpy3DAsync(const CUDA_MEMCPY3D* pCopy, CUstream hStream) {
    Call call("cuMemcpy3DAsync");
    if (call.refused()) return call.error;
    return pCopy == nullptr ? CUDA_ERROR_INVALID_VALUE : copy_later(call, *pCopy, hStream);
}

CUDA_CALL cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, std::size_t N, CUstream hStream) {
    return set_later("cuMemsetD8Async", flat_set(dstDevice, uc, 1, N), hStream);
}

CUDA_CALL cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, std::size_t N, CUstream hStream) {
    return set_later("cuMemsetD16Async", flat_set(dstDevice, us, 2, N), hStream);
}

CUDA_CALL cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, std::size_t N, CUstream hStream) {
    return set_later("cuMemsetD32Async", flat_set(dstDevice, ui, 4, N), hStream);
}
