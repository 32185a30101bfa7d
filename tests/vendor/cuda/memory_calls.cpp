// Memory management and unified addressing: allocations, host memory, what is known about a pointer.
#include "call.hpp"
#include "memory.hpp"

using namespace test::cuda;

namespace {

std::uintptr_t address_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

template <class T>
CUresult put(void* data, T value) {
    std::memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
}

CUresult pointer_attribute(void* data, CUpointer_attribute attribute, CUdeviceptr ptr) {
    const Allocation* found = find_live(ptr);
    if (found == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::uintptr_t offset = ptr - found->base;
    switch (attribute) {
        case CU_POINTER_ATTRIBUTE_CONTEXT: return put(data, found->context->handle);
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            return put(data, static_cast<unsigned>(found->kind == Allocation::device ? CU_MEMORYTYPE_DEVICE
                                                                                     : CU_MEMORYTYPE_HOST));
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: {
            const ContextPtr context = current_context();
            if (!context) return CUDA_ERROR_INVALID_CONTEXT;
            const bool reachable = found->kind != Allocation::device || found->context == context ||
                                   context->peers.contains(found->context->handle);
            if (!reachable) return CUDA_ERROR_INVALID_VALUE;
            return put(data, static_cast<CUdeviceptr>(found->host_only ? found->other_view + offset : ptr));
        }
        case CU_POINTER_ATTRIBUTE_HOST_POINTER:
            if (found->kind == Allocation::device) return CUDA_ERROR_INVALID_VALUE;
            return put(data, found->device_only ? found->other_view + offset : static_cast<std::uintptr_t>(ptr));
        case CU_POINTER_ATTRIBUTE_BUFFER_ID: return put(data, static_cast<unsigned long long>(found->id));
        case CU_POINTER_ATTRIBUTE_IS_MANAGED: return put(data, 0U);
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return put(data, found->context->device);
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return put(data, found->base);
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return put(data, found->size);
        case CU_POINTER_ATTRIBUTE_MAPPED: return put(data, 1U);
        default: return CUDA_ERROR_INVALID_VALUE;
    }
}

/// What cuPointerGetAttributes stores for a pointer that is none of the driver's.
void put_nothing(void* data, CUpointer_attribute attribute) {
    switch (attribute) {
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        case CU_POINTER_ATTRIBUTE_MAPPED: put(data, 0U); break;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: put(data, -2); break;
        default: put(data, std::uint64_t{0}); break;
    }
}

CUresult allocate_host(void** pp, std::size_t bytes, unsigned flags, const Call& call) {
    constexpr unsigned known = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    if (pp == nullptr || bytes == 0 || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = check_unsafe_in_capture(); error != CUDA_SUCCESS) return error;
    const std::uintptr_t made = allocate_pinned(call.context, bytes, flags);
    if (made == 0) return CUDA_ERROR_OUT_OF_MEMORY;
    *pp = reinterpret_cast<void*>(made);
    return CUDA_SUCCESS;
}

}  // namespace

CUDA_CALL cuMemAlloc(CUdeviceptr* dptr, std::size_t bytesize) {
    const Call call("cuMemAlloc");
    if (call.refused()) return call.error;
    if (dptr == nullptr || bytesize == 0) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = check_unsafe_in_capture(); error != CUDA_SUCCESS) return error;
    const std::uintptr_t made = allocate_device(call.context, bytesize);
    if (made == 0) return CUDA_ERROR_OUT_OF_MEMORY;
    *dptr = made;
    return CUDA_SUCCESS;
}

// "May perform implicit synchronization": nobody can rely on it, so it never does.
CUDA_CALL cuMemFree(CUdeviceptr dptr) {
    const Call call("cuMemFree", Needs::context, AfterFault::go_on);
    if (call.refused()) return call.error;
    if (const CUresult error = check_unsafe_in_capture(); error != CUDA_SUCCESS) return error;
    if (!free_memory(dptr, Allocation::device)) return CUDA_ERROR_INVALID_VALUE;
    return call.done();
}

CUDA_CALL cuMemGetInfo(std::size_t* free, std::size_t* total) {
    const Call call("cuMemGetInfo");
    if (call.refused()) return call.error;
    if (free == nullptr || total == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *total = state().options.memory;
    *free = *total - bytes_in_use(call.context->device);
    return CUDA_SUCCESS;
}

CUDA_CALL cuMemGetAddressRange(CUdeviceptr* pbase, std::size_t* psize, CUdeviceptr dptr) {
    const Call call("cuMemGetAddressRange");
    if (call.refused()) return call.error;
    const Allocation* found = find_live(dptr);
    if (found == nullptr || found->kind != Allocation::device) return CUDA_ERROR_NOT_FOUND;
    if (pbase != nullptr) *pbase = found->base;
    if (psize != nullptr) *psize = found->size;
    return CUDA_SUCCESS;
}

CUDA_CALL cuMemAllocHost(void** pp, std::size_t bytesize) {
    const Call call("cuMemAllocHost");
    if (call.refused()) return call.error;
    return allocate_host(pp, bytesize, CU_MEMHOSTALLOC_DEVICEMAP, call);
}

CUDA_CALL cuMemHostAlloc(void** pp, std::size_t bytesize, unsigned int Flags) {
    const Call call("cuMemHostAlloc");
    if (call.refused()) return call.error;
    return allocate_host(pp, bytesize, Flags, call);
}

CUDA_CALL cuMemFreeHost(void* p) {
    const Call call("cuMemFreeHost", Needs::context, AfterFault::go_on);
    if (call.refused()) return call.error;
    if (const CUresult error = check_unsafe_in_capture(); error != CUDA_SUCCESS) return error;
    if (!free_memory(address_of(p), Allocation::pinned)) return CUDA_ERROR_INVALID_VALUE;
    return call.done();
}

CUDA_CALL cuMemHostGetDevicePointer(CUdeviceptr* pdptr, void* p, unsigned int Flags) {
    const Call call("cuMemHostGetDevicePointer");
    if (call.refused()) return call.error;
    if (pdptr == nullptr || Flags != 0) return CUDA_ERROR_INVALID_VALUE;
    const Allocation* found = find_live(address_of(p));
    if (found == nullptr || found->kind == Allocation::device || found->device_only) return CUDA_ERROR_INVALID_VALUE;
    const unsigned mapped = found->kind == Allocation::pinned ? CU_MEMHOSTALLOC_DEVICEMAP
                                                              : CU_MEMHOSTREGISTER_DEVICEMAP;
    if ((found->flags & mapped) == 0) return CUDA_ERROR_INVALID_VALUE;
    *pdptr = found->host_only ? found->other_view + (address_of(p) - found->base) : address_of(p);
    return CUDA_SUCCESS;
}

CUDA_CALL cuMemHostRegister(void* p, std::size_t bytesize, unsigned int Flags) {
    const Call call("cuMemHostRegister");
    if (call.refused()) return call.error;
    constexpr unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                               CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
    if (p == nullptr || bytesize == 0 || (Flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
    if ((Flags & (CU_MEMHOSTREGISTER_READ_ONLY | CU_MEMHOSTREGISTER_IOMEMORY)) != 0) return CUDA_ERROR_NOT_SUPPORTED;
    if (const CUresult error = check_unsafe_in_capture(); error != CUDA_SUCCESS) return error;
    const bool registered = register_host(call.context, address_of(p), bytesize, Flags);
    return registered ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

CUDA_CALL cuMemHostUnregister(void* p) {
    const Call call("cuMemHostUnregister", Needs::context, AfterFault::go_on);
    if (call.refused()) return call.error;
    if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = check_unsafe_in_capture(); error != CUDA_SUCCESS) return error;
    if (!free_memory(address_of(p), Allocation::registered)) return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    return call.done();
}

CUDA_CALL cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr ptr) {
    const Call call("cuPointerGetAttribute", Needs::work);
    if (call.refused()) return call.error;
    if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return pointer_attribute(data, attribute, ptr);
}

CUDA_CALL cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute* attributes, void** data,
                                 CUdeviceptr ptr) {
    const Call call("cuPointerGetAttributes", Needs::work);
    if (call.refused()) return call.error;
    if (numAttributes > 0 && (attributes == nullptr || data == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < numAttributes; ++i) {
        if (data[i] == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (pointer_attribute(data[i], attributes[i], ptr) != CUDA_SUCCESS) put_nothing(data[i], attributes[i]);
    }
    return CUDA_SUCCESS;
}
