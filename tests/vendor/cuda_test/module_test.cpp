#include "support.hpp"

#include <cstring>
#include <string>

namespace {

using namespace simulated;

TEST_CASE("what is an image and what is not") {
    const Driver driver;
    CUmodule module = nullptr;
    IS(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(&module, nullptr));
    IS(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, "\x7f"
                                                           "ELF\x02"));
    IS(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, ""));
    IS(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, ".entry step()"));  // .version comes first
    IS(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, ".version 8.0\n.entry nobody()"));
    IS(CUDA_ERROR_INVALID_VALUE, cuModuleLoadDataEx(&module, sim::image_of({"step"}).c_str(), 1, nullptr, nullptr));
    OK(cuModuleLoadDataEx(&module, sim::image_of({"step"}).c_str(), 0, nullptr, nullptr));
    CHECK(sim::live().modules == 2);
    OK(cuModuleUnload(module));
    IS(CUDA_ERROR_INVALID_VALUE, cuModuleUnload(module));
    CHECK(sim::live().modules == 1);
}

TEST_CASE("functions are found by name, and know theirs") {
    const Driver driver;
    CUfunction found = nullptr, again = nullptr;
    IS(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&found, driver.module, "nobody"));
    IS(CUDA_ERROR_INVALID_VALUE, cuModuleGetFunction(&found, nullptr, "step"));
    OK(cuModuleGetFunction(&found, driver.module, "fill"));
    OK(cuModuleGetFunction(&again, driver.module, "fill"));
    CHECK(found == again);
    const char* name = nullptr;
    OK(cuFuncGetName(&name, found));
    CHECK(std::string(name) == "fill");
    CUmodule module = nullptr;
    OK(cuFuncGetModule(&module, found));
    CHECK(module == driver.module);
    std::size_t offset = 0, size = 0;
    OK(cuFuncGetParamInfo(found, 2, &offset, &size));
    CHECK(offset == 12);
    CHECK(size == 4);
    IS(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(found, 3, &offset, &size));
}

TEST_CASE("sizes without types are placed by the alignment a size can have") {
    const auto parameters = sim::parameters_of({4, 8, 1, 2, 12, 16});
    const std::size_t offsets[] = {0, 8, 16, 18, 20, 32};
    for (std::size_t i = 0; i < 6; ++i) CHECK(parameters[i].offset == offsets[i]);
}

TEST_CASE("variables of modules") {
    const Driver driver;
    CUmodule module = nullptr;
    OK(cuModuleLoadData(&module, sim::image_of({"step"}, {{"table", 24}}).c_str()));
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    IS(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&address, &bytes, module, "nothing"));
    IS(CUDA_ERROR_INVALID_VALUE, cuModuleGetGlobal(nullptr, nullptr, module, "table"));
    OK(cuModuleGetGlobal(&address, &bytes, module, "table"));
    CHECK(bytes == 24);
    CHECK(Driver::value(address) == 0);
    OK(driver.step_in(nullptr, address + 4, 1, 6));
    CHECK(Driver::value(address + 4) == 6);
    IS(CUDA_ERROR_INVALID_VALUE, cuMemFree(address));
    CHECK(sim::live().device_allocations == 0);
    OK(cuModuleUnload(module));
    IS(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(address, 0, 1));
}

TEST_CASE("more dynamic shared memory is asked for first") {
    sim::register_kernel({"shares", sim::parameters_of({8}),
                          [](const sim::Launch& launch) {
                              int zeros = 0;
                              for (unsigned i = 0; i < launch.dynamic_shared + 1024; ++i)
                                  zeros += launch.shared[i] == std::byte{0} ? 1 : 0;
                              *launch.argument<int*>(0) = zeros;
                          },
                          1024});
    const Driver driver;
    CUmodule module = nullptr;
    CUfunction shares = nullptr;
    OK(cuModuleLoadData(&module, sim::image_of({"shares"}).c_str()));
    OK(cuModuleGetFunction(&shares, module, "shares"));
    int most = 0;
    OK(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shares));
    CHECK(most == 47 * 1024);
    CUdeviceptr p = driver.ints();
    void* arguments[] = {&p};
    const auto launch = [&](unsigned bytes) {
        return cuLaunchKernel(shares, 1, 1, 1, 1, 1, 1, bytes, nullptr, arguments, nullptr);
    };
    IS(CUDA_ERROR_INVALID_VALUE, launch(47 * 1024 + 1));
    constexpr auto attribute = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    IS(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(shares, attribute, 226 * 1024 + 1));
    IS(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(shares, CU_FUNC_ATTRIBUTE_NUM_REGS, 1));
    IS(CUDA_ERROR_INVALID_HANDLE, cuFuncSetAttribute(nullptr, attribute, 1));
    OK(cuFuncSetAttribute(shares, attribute, 226 * 1024));
    OK(launch(226 * 1024));
    CHECK(Driver::value(p) == 227 * 1024);
}

// --- launches --------------------------------------------------------------------------------------------------------

TEST_CASE("limits of a launch") {
    const Driver driver;
    CUdeviceptr p = driver.ints();
    int factor = 1, add = 1;
    void* arguments[] = {&p, &factor, &add};
    const auto launch = [&](sim::Extent grid, sim::Extent block) {
        return cuLaunchKernel(driver.step_kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, 0, nullptr,
                              arguments, nullptr);
    };
    OK(launch({2147483647, 65535, 65535}, {1024, 1, 1}));
    OK(launch({1, 1, 1}, {4, 4, 64}));
    IS(CUDA_ERROR_INVALID_VALUE, launch({0, 1, 1}, {1, 1, 1}));
    IS(CUDA_ERROR_INVALID_VALUE, launch({1, 65536, 1}, {1, 1, 1}));
    IS(CUDA_ERROR_INVALID_VALUE, launch({1, 1, 1}, {1, 0, 1}));
    IS(CUDA_ERROR_INVALID_VALUE, launch({1, 1, 1}, {1025, 1, 1}));
    IS(CUDA_ERROR_INVALID_VALUE, launch({1, 1, 1}, {1, 1, 65}));
    IS(CUDA_ERROR_INVALID_VALUE, launch({1, 1, 1}, {32, 33, 1}));
    CHECK(Driver::value(p) == 2);
}

TEST_CASE("arguments are copied by the call, also from a buffer") {
    const Driver driver;
    CUdeviceptr p = driver.ints();
    int factor = 0, add = 5;
    void* arguments[] = {&p, &factor, &add};
    struct {
        CUdeviceptr p;
        int factor, add;
    } packed{p, 10, 6};
    std::size_t size = sizeof packed;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    const auto launch = [&](void** given, void** more) {
        return cuLaunchKernel(driver.step_kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, given, more);
    };
    sim::hold();
    OK(launch(arguments, nullptr));
    OK(launch(nullptr, extra));
    add = 99;
    packed.add = 99;
    IS(CUDA_ERROR_INVALID_VALUE, launch(arguments, extra));
    IS(CUDA_ERROR_INVALID_VALUE, launch(nullptr, nullptr));
    size = sizeof packed - 1;
    IS(CUDA_ERROR_INVALID_VALUE, launch(nullptr, extra));
    size = sizeof packed + 8;
    IS(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, launch(nullptr, extra));
    arguments[2] = nullptr;
    IS(CUDA_ERROR_INVALID_VALUE, launch(arguments, nullptr));
    sim::release();
    CHECK(Driver::value(p) == 56);
}

TEST_CASE("a function, a stream and a context belong together") {
    const Driver driver;
    const CUdeviceptr p = driver.ints();
    const CUstream ours = Driver::stream();
    CUcontext other = nullptr;
    OK(cuCtxCreate(&other, nullptr, 0, 0));
    IS(CUDA_ERROR_INVALID_HANDLE, driver.step_in(nullptr, p, 1, 1));
    IS(CUDA_ERROR_INVALID_HANDLE, driver.step_in(Driver::stream(), p, 1, 1));
    OK(driver.step_in(ours, p, 1, 1));
    OK(cuStreamSynchronize(ours));
    IS(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, ours, nullptr, nullptr));
}

TEST_CASE("cuLaunchKernelEx: attributes that change nothing are taken, others are not there") {
    const Driver driver;
    CUdeviceptr p = driver.ints();
    int factor = 1, add = 3;
    void* arguments[] = {&p, &factor, &add};
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    OK(cuLaunchKernelEx(&config, driver.step_kernel, arguments, nullptr));
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    IS(CUDA_ERROR_NOT_SUPPORTED, cuLaunchKernelEx(&config, driver.step_kernel, arguments, nullptr));
    CHECK(Driver::value(p) == 3);
}

TEST_CASE("a kernel whose module is unloaded before it runs") {
    const Driver driver;
    const CUdeviceptr p = driver.ints();
    sim::hold();
    OK(driver.step_in(nullptr, p, 1, 1));
    OK(cuModuleUnload(driver.module));
    IS(CUDA_ERROR_INVALID_HANDLE, driver.step_in(nullptr, p, 1, 1));
    sim::release();
    IS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    CHECK(sim::violations().at(0).kind == sim::Violation::destroyed_handle);
}

}  // namespace
