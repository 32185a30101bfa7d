// cuGetProcAddress: what is exported here, with the CUDA version from which on a name means this very function.
#include "call.hpp"

using namespace test::cuda;

namespace {

struct Entry {
    const char* name;
    int since;
    void* function;
};

#define ENTRY(text, name, since) {text, since, reinterpret_cast<void*>(&(name))}

struct Found {
    void* function = nullptr;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
};

/// The newest function of that name which the version has. Older functions of other signatures are not here.
Found find(std::string_view name, int version) {
    // The name of the manual beside what cuda.h makes of it. A name that got a new signature without a macro in cuda.h
    // is another function from that version on.
    static const Entry entries[] = {
        ENTRY("cuCtxCreate", cuCtxCreate, 12050),
        ENTRY("cuCtxDestroy", cuCtxDestroy, 4000),
        ENTRY("cuCtxDisablePeerAccess", cuCtxDisablePeerAccess, 4000),
        ENTRY("cuCtxEnablePeerAccess", cuCtxEnablePeerAccess, 4000),
        ENTRY("cuCtxGetCurrent", cuCtxGetCurrent, 4000),
        ENTRY("cuCtxGetDevice", cuCtxGetDevice, 2000),
        ENTRY("cuCtxGetDevice", cuCtxGetDevice_v2, 13000),
        ENTRY("cuCtxGetStreamPriorityRange", cuCtxGetStreamPriorityRange, 5050),
        ENTRY("cuCtxPopCurrent", cuCtxPopCurrent, 4000),
        ENTRY("cuCtxPushCurrent", cuCtxPushCurrent, 4000),
        ENTRY("cuCtxSetCurrent", cuCtxSetCurrent, 4000),
        ENTRY("cuCtxSynchronize", cuCtxSynchronize, 2000),
        ENTRY("cuCtxSynchronize", cuCtxSynchronize_v2, 13000),
        ENTRY("cuDeviceCanAccessPeer", cuDeviceCanAccessPeer, 4000),
        ENTRY("cuDeviceGet", cuDeviceGet, 2000),
        ENTRY("cuDeviceGetAttribute", cuDeviceGetAttribute, 2000),
        ENTRY("cuDeviceGetCount", cuDeviceGetCount, 2000),
        ENTRY("cuDeviceGetName", cuDeviceGetName, 2000),
        ENTRY("cuDevicePrimaryCtxGetState", cuDevicePrimaryCtxGetState, 7000),
        ENTRY("cuDevicePrimaryCtxRelease", cuDevicePrimaryCtxRelease, 11000),
        ENTRY("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain, 7000),
        ENTRY("cuDeviceTotalMem", cuDeviceTotalMem, 3020),
        ENTRY("cuDriverGetVersion", cuDriverGetVersion, 2020),
        ENTRY("cuEventCreate", cuEventCreate, 2000),
        ENTRY("cuEventDestroy", cuEventDestroy, 4000),
        ENTRY("cuEventElapsedTime", cuEventElapsedTime, 12080),
        ENTRY("cuEventQuery", cuEventQuery, 2000),
        ENTRY("cuEventRecord", cuEventRecord, 2000),
        ENTRY("cuEventRecordWithFlags", cuEventRecordWithFlags, 11010),
        ENTRY("cuEventSynchronize", cuEventSynchronize, 2000),
        ENTRY("cuFuncGetAttribute", cuFuncGetAttribute, 2020),
        ENTRY("cuFuncGetModule", cuFuncGetModule, 11000),
        ENTRY("cuFuncGetName", cuFuncGetName, 12030),
        ENTRY("cuFuncGetParamInfo", cuFuncGetParamInfo, 12040),
        ENTRY("cuFuncSetAttribute", cuFuncSetAttribute, 9000),
        ENTRY("cuGetErrorName", cuGetErrorName, 6000),
        ENTRY("cuGetErrorString", cuGetErrorString, 6000),
        ENTRY("cuGetProcAddress", cuGetProcAddress, 12000),
        ENTRY("cuGraphAddChildGraphNode", cuGraphAddChildGraphNode, 10000),
        ENTRY("cuGraphAddDependencies", cuGraphAddDependencies, 12030),
        ENTRY("cuGraphAddEmptyNode", cuGraphAddEmptyNode, 10000),
        ENTRY("cuGraphAddEventRecordNode", cuGraphAddEventRecordNode, 11010),
        ENTRY("cuGraphAddEventWaitNode", cuGraphAddEventWaitNode, 11010),
        ENTRY("cuGraphAddHostNode", cuGraphAddHostNode, 10000),
        ENTRY("cuGraphAddKernelNode", cuGraphAddKernelNode, 12000),
        ENTRY("cuGraphAddMemcpyNode", cuGraphAddMemcpyNode, 10000),
        ENTRY("cuGraphAddMemsetNode", cuGraphAddMemsetNode, 10000),
        ENTRY("cuGraphChildGraphNodeGetGraph", cuGraphChildGraphNodeGetGraph, 10000),
        ENTRY("cuGraphClone", cuGraphClone, 10000),
        ENTRY("cuGraphCreate", cuGraphCreate, 10000),
        ENTRY("cuGraphDestroy", cuGraphDestroy, 10000),
        ENTRY("cuGraphExecChildGraphNodeSetParams", cuGraphExecChildGraphNodeSetParams, 11010),
        ENTRY("cuGraphExecDestroy", cuGraphExecDestroy, 10000),
        ENTRY("cuGraphExecHostNodeSetParams", cuGraphExecHostNodeSetParams, 10020),
        ENTRY("cuGraphExecKernelNodeSetParams", cuGraphExecKernelNodeSetParams, 12000),
        ENTRY("cuGraphExecMemcpyNodeSetParams", cuGraphExecMemcpyNodeSetParams, 10020),
        ENTRY("cuGraphExecMemsetNodeSetParams", cuGraphExecMemsetNodeSetParams, 10020),
        ENTRY("cuGraphExecUpdate", cuGraphExecUpdate, 12000),
        ENTRY("cuGraphGetEdges", cuGraphGetEdges, 12030),
        ENTRY("cuGraphGetNodes", cuGraphGetNodes, 10000),
        ENTRY("cuGraphInstantiateWithParams", cuGraphInstantiateWithParams, 12000),
        ENTRY("cuGraphKernelNodeGetParams", cuGraphKernelNodeGetParams, 12000),
        ENTRY("cuGraphKernelNodeSetParams", cuGraphKernelNodeSetParams, 12000),
        ENTRY("cuGraphLaunch", cuGraphLaunch, 10000),
        ENTRY("cuGraphMemcpyNodeGetParams", cuGraphMemcpyNodeGetParams, 10000),
        ENTRY("cuGraphNodeFindInClone", cuGraphNodeFindInClone, 10000),
        ENTRY("cuGraphNodeGetDependencies", cuGraphNodeGetDependencies, 12030),
        ENTRY("cuGraphNodeGetEnabled", cuGraphNodeGetEnabled, 11060),
        ENTRY("cuGraphNodeGetType", cuGraphNodeGetType, 10000),
        ENTRY("cuGraphNodeSetEnabled", cuGraphNodeSetEnabled, 11060),
        ENTRY("cuGraphUpload", cuGraphUpload, 11010),
        ENTRY("cuInit", cuInit, 2000),
        ENTRY("cuLaunchHostFunc", cuLaunchHostFunc, 10000),
        ENTRY("cuLaunchKernel", cuLaunchKernel, 4000),
        ENTRY("cuLaunchKernelEx", cuLaunchKernelEx, 11060),
        ENTRY("cuMemAlloc", cuMemAlloc, 3020),
        ENTRY("cuMemAllocHost", cuMemAllocHost, 3020),
        ENTRY("cuMemFree", cuMemFree, 3020),
        ENTRY("cuMemFreeHost", cuMemFreeHost, 2000),
        ENTRY("cuMemGetAddressRange", cuMemGetAddressRange, 3020),
        ENTRY("cuMemGetInfo", cuMemGetInfo, 3020),
        ENTRY("cuMemHostAlloc", cuMemHostAlloc, 2020),
        ENTRY("cuMemHostGetDevicePointer", cuMemHostGetDevicePointer, 3020),
        ENTRY("cuMemHostRegister", cuMemHostRegister, 6050),
        ENTRY("cuMemHostUnregister", cuMemHostUnregister, 4000),
        ENTRY("cuMemcpy", cuMemcpy, 4000),
        ENTRY("cuMemcpy3D", cuMemcpy3D, 3020),
        ENTRY("cuMemcpy3DAsync", cuMemcpy3DAsync, 3020),
        ENTRY("cuMemcpyAsync", cuMemcpyAsync, 4000),
        ENTRY("cuMemcpyDtoD", cuMemcpyDtoD, 3020),
        ENTRY("cuMemcpyDtoDAsync", cuMemcpyDtoDAsync, 3020),
        ENTRY("cuMemcpyDtoH", cuMemcpyDtoH, 3020),
        ENTRY("cuMemcpyDtoHAsync", cuMemcpyDtoHAsync, 3020),
        ENTRY("cuMemcpyHtoD", cuMemcpyHtoD, 3020),
        ENTRY("cuMemcpyHtoDAsync", cuMemcpyHtoDAsync, 3020),
        ENTRY("cuMemcpyPeer", cuMemcpyPeer, 4000),
        ENTRY("cuMemcpyPeerAsync", cuMemcpyPeerAsync, 4000),
        ENTRY("cuMemsetD16", cuMemsetD16, 3020),
        ENTRY("cuMemsetD16Async", cuMemsetD16Async, 3020),
        ENTRY("cuMemsetD32", cuMemsetD32, 3020),
        ENTRY("cuMemsetD32Async", cuMemsetD32Async, 3020),
        ENTRY("cuMemsetD8", cuMemsetD8, 3020),
        ENTRY("cuMemsetD8Async", cuMemsetD8Async, 3020),
        ENTRY("cuModuleGetFunction", cuModuleGetFunction, 2000),
        ENTRY("cuModuleGetGlobal", cuModuleGetGlobal, 3020),
        ENTRY("cuModuleLoadData", cuModuleLoadData, 2000),
        ENTRY("cuModuleLoadDataEx", cuModuleLoadDataEx, 2010),
        ENTRY("cuModuleUnload", cuModuleUnload, 2000),
        ENTRY("cuPointerGetAttribute", cuPointerGetAttribute, 4000),
        ENTRY("cuPointerGetAttributes", cuPointerGetAttributes, 7000),
        ENTRY("cuStreamBeginCapture", cuStreamBeginCapture, 10010),
        ENTRY("cuStreamBeginCaptureToGraph", cuStreamBeginCaptureToGraph, 12030),
        ENTRY("cuStreamCreate", cuStreamCreate, 2000),
        ENTRY("cuStreamCreateWithPriority", cuStreamCreateWithPriority, 5050),
        ENTRY("cuStreamDestroy", cuStreamDestroy, 4000),
        ENTRY("cuStreamEndCapture", cuStreamEndCapture, 10000),
        ENTRY("cuStreamGetCaptureInfo", cuStreamGetCaptureInfo, 12030),
        ENTRY("cuStreamGetCtx", cuStreamGetCtx, 9020),
        ENTRY("cuStreamGetCtx", cuStreamGetCtx_v2, 12050),
        ENTRY("cuStreamGetFlags", cuStreamGetFlags, 5050),
        ENTRY("cuStreamGetPriority", cuStreamGetPriority, 5050),
        ENTRY("cuStreamIsCapturing", cuStreamIsCapturing, 10000),
        ENTRY("cuStreamQuery", cuStreamQuery, 2000),
        ENTRY("cuStreamSynchronize", cuStreamSynchronize, 2000),
        ENTRY("cuStreamWaitEvent", cuStreamWaitEvent, 3020),
        ENTRY("cuThreadExchangeStreamCaptureMode", cuThreadExchangeStreamCaptureMode, 10010),
        ENTRY("cuGraphInstantiateWithFlags", cuGraphInstantiateWithFlags, 11040),
    };
    Found found;
    for (const Entry& entry : entries) {
        if (name != entry.name) continue;
        if (version >= entry.since) {
            found = {entry.function, CU_GET_PROC_ADDRESS_SUCCESS};
        } else if (found.function == nullptr) {
            found.status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
        }
    }
    return found;
}

#undef ENTRY

}  // namespace

CUDA_CALL cuGetProcAddress(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags,
                           CUdriverProcAddressQueryResult* symbolStatus) {
    const Call call("cuGetProcAddress", Needs::nothing);
    if (call.refused()) return call.error;
    constexpr cuuint64_t known = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    if (symbol == nullptr || pfn == nullptr || cudaVersion > CUDA_VERSION || flags == known || (flags & ~known) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    const Found found = find(symbol, cudaVersion);
    *pfn = found.function;
    if (symbolStatus != nullptr) *symbolStatus = found.status;
    return CUDA_SUCCESS;
}
