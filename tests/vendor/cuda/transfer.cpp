#include "transfer.hpp"

#include "memory.hpp"

namespace test::cuda {

namespace {

constexpr std::size_t max_pitch = 2147483647;

CUmemorytype kind_of(std::uintptr_t address) {
    const Allocation* found = find_live(address);
    return found != nullptr && found->kind == Allocation::device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

/// CUDA_MEMCPY3D: pitches and heights hold the whole row or slice, if they are given and matter.
bool shape_fits(std::size_t pitch, std::size_t slice_height, std::size_t x, std::size_t y, const CUDA_MEMCPY3D& what) {
    const bool pitch_matters = what.Height > 1 || what.Depth > 1 || y > 0;
    if (pitch > max_pitch) return false;
    if (pitch == 0 ? pitch_matters : pitch < what.WidthInBytes + x) return false;
    if (slice_height == 0 ? what.Depth > 1 : slice_height < what.Height + y) return false;
    return true;
}

/// A device operand is memory that some call gave out, and a host operand is not memory of a device.
CUresult check_operand(const Operand& operand, const CUDA_MEMCPY3D& what) {
    const std::size_t bytes = span_of(operand, what);
    const Allocation* found = find_live(operand.address);
    if (operand.is_host) {
        if (operand.address == 0) return CUDA_ERROR_INVALID_VALUE;
        return found != nullptr && found->kind == Allocation::device ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    }
    return find_live(operand.address, bytes) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

Operand source(const CUDA_MEMCPY3D& w) {
    const bool host = w.srcMemoryType == CU_MEMORYTYPE_HOST;
    const std::uintptr_t base = host ? reinterpret_cast<std::uintptr_t>(w.srcHost) : w.srcDevice;
    return {host, base + (w.srcZ * w.srcHeight + w.srcY) * w.srcPitch + w.srcXInBytes, w.srcPitch,
            w.srcPitch * w.srcHeight};
}

Operand destination(const CUDA_MEMCPY3D& w) {
    const bool host = w.dstMemoryType == CU_MEMORYTYPE_HOST;
    const std::uintptr_t base = host ? reinterpret_cast<std::uintptr_t>(w.dstHost) : w.dstDevice;
    return {host, base + (w.dstZ * w.dstHeight + w.dstY) * w.dstPitch + w.dstXInBytes, w.dstPitch,
            w.dstPitch * w.dstHeight};
}

std::size_t span_of(const Operand& operand, const CUDA_MEMCPY3D& what) {
    if (what.WidthInBytes == 0 || what.Height == 0 || what.Depth == 0) return 0;
    return (what.Depth - 1) * operand.slice + (what.Height - 1) * operand.pitch + what.WidthInBytes;
}

CUDA_MEMCPY3D flat_copy(CUmemorytype to, std::uintptr_t dst, CUmemorytype from, std::uintptr_t src, std::size_t bytes) {
    CUDA_MEMCPY3D what{};
    what.dstMemoryType = to;
    what.dstDevice = dst;
    what.dstHost = reinterpret_cast<void*>(dst);
    what.srcMemoryType = from;
    what.srcDevice = src;
    what.srcHost = reinterpret_cast<const void*>(src);
    what.WidthInBytes = bytes;
    what.Height = what.Depth = 1;
    return what;
}

CUresult resolve(CUDA_MEMCPY3D& what) {
    if (what.srcLOD != 0 || what.dstLOD != 0 || what.reserved0 != nullptr || what.reserved1 != nullptr)
        return CUDA_ERROR_INVALID_VALUE;
    if (what.srcMemoryType == CU_MEMORYTYPE_UNIFIED) {
        what.srcMemoryType = kind_of(what.srcDevice);
        what.srcHost = reinterpret_cast<const void*>(what.srcDevice);
    }
    if (what.dstMemoryType == CU_MEMORYTYPE_UNIFIED) {
        what.dstMemoryType = kind_of(what.dstDevice);
        what.dstHost = reinterpret_cast<void*>(what.dstDevice);
    }
    const auto known = [](CUmemorytype type) { return type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_DEVICE; };
    if (!known(what.srcMemoryType) || !known(what.dstMemoryType)) return CUDA_ERROR_INVALID_VALUE;
    if (what.WidthInBytes == 0 || what.Height == 0 || what.Depth == 0) return CUDA_SUCCESS;
    if (!shape_fits(what.srcPitch, what.srcHeight, what.srcXInBytes, what.srcY, what) ||
        !shape_fits(what.dstPitch, what.dstHeight, what.dstXInBytes, what.dstY, what))
        return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = check_operand(source(what), what); error != CUDA_SUCCESS) return error;
    return check_operand(destination(what), what);
}

CUresult check_set(const CUDA_MEMSET_NODE_PARAMS& what) {
    const std::size_t size = what.elementSize;
    if (size != 1 && size != 2 && size != 4) return CUDA_ERROR_INVALID_VALUE;
    if (size < 4 && what.value >> (8 * size) != 0) return CUDA_ERROR_INVALID_VALUE;
    if (what.width == 0 || what.height == 0) return CUDA_SUCCESS;
    if (what.dst % size != 0) return CUDA_ERROR_INVALID_VALUE;
    if (what.width > SIZE_MAX / 4 / what.height) return CUDA_ERROR_INVALID_VALUE;
    if (what.height > 1 && (what.pitch < what.width * size || what.pitch % size != 0)) return CUDA_ERROR_INVALID_VALUE;
    const std::size_t bytes = (what.height > 1 ? (what.height - 1) * what.pitch : 0) + what.width * size;
    return find_live(what.dst, bytes) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace test::cuda
