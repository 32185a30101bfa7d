// CUDA kernels, typed, and the modules that they come from.
#pragma once

#include <graphjit/backend/cuda_devices.hpp>
#include <graphjit/record/kernel.hpp>
#include <graphjit/record/recorder_state.hpp>

namespace graphjit::inline v0 {

/// The kernels of the CUDA backend.
struct CudaFamily {};

/// Last among a CudaKernel's parameters: the kernel itself has one parameter, a pointer to a struct of the others in
/// this order, which lies in memory of the graph: `__global__ void scale(const ScaleArguments* arguments)`. However
/// many of them change, a replay writes them in one go, and no node is updated.
struct via_block {};

namespace detail {

template <class... P>
struct cuda_parameters {
    using types = Types<std::remove_cvref_t<P>..., LaunchDims>;
    using layout = BlockLayout<std::remove_cvref_t<P>..., LaunchDims>;
    static constexpr bool is_via_block = false;
    static_assert((true && ... && check_parameter<P>()));
    static_assert((true && ... && !is_dims<std::remove_cvref_t<P>>),
                  "graphjit: a CudaKernel is always launched with dims; its own parameters do not name them");
};
template <class Done, class... P>
struct split_via_block;
template <class... Done>
struct split_via_block<Types<Done...>> : cuda_parameters<Done...> {};
template <class... Done>
struct split_via_block<Types<Done...>, via_block> : cuda_parameters<Done...> {
    static constexpr bool is_via_block = true;
};
template <class... Done, class First, class... Rest>
struct split_via_block<Types<Done...>, First, Rest...> : split_via_block<Types<Done..., First>, Rest...> {
    static_assert(!std::is_same_v<First, via_block>, "graphjit: via_block stands behind all parameters");
};

/// A function of a module, in all contexts that it was loaded into.
struct CudaFunction {
    CudaFunction* next = nullptr;
    Array<CUfunction> functions;  // by device
    Array<char> name;
    bool is_via_block = false;
};
template <class Api>
class CudaModuleState {
public:
    explicit CudaModuleState(const BasicCudaDevices<Api>& devices) noexcept : devices_(devices) {}
    CudaModuleState(const CudaModuleState&) = delete;
    CudaModuleState& operator=(const CudaModuleState&) = delete;

    void hold() noexcept { holders_.fetch_add(1, std::memory_order_relaxed); }
    void let_go() noexcept {
        if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }

    [[nodiscard]] Status load(const void* image) noexcept {
        for (std::uint32_t d = 0; d < devices_.count(); ++d) {
            const CudaCurrent<Api> current(devices_.context(static_cast<DeviceId>(d)));
            CUmodule module = nullptr;
            const CUresult result = Api::cuModuleLoadData(&module, image);
            if (result != CUDA_SUCCESS) return cuda_error<Api>(result, "a CUDA module could not be loaded");
            if (modules_.push(module)) continue;
            (void)Api::cuModuleUnload(module);
            return cuda_error<Api>(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a CUDA module");
        }
        return {};
    }

    [[nodiscard]] Result<const CudaFunction*> function(const char* name, const KernelInfo& info,
                                                       bool is_via_block) noexcept {
        return function(name, info, is_via_block, [&](std::uint32_t device, CUfunction& function) {
            if (device >= modules_.size()) return CUDA_ERROR_NOT_FOUND;
            return Api::cuModuleGetFunction(&function, modules_[device], name);
        });
    }
    /// The function that `get(device, function) -> CUresult` gives, with this way of taking its arguments, which are
    /// checked against what the code says.
    template <class Get>
    [[nodiscard]] Result<const CudaFunction*> function(const char* name, const KernelInfo& info, bool is_via_block,
                                                       Get get) noexcept {
        CudaFunction* made = new (std::nothrow) CudaFunction;
        if (made == nullptr) return cuda_error<Api>(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a CUDA kernel");
        made->next = functions_;
        functions_ = made;
        made->is_via_block = is_via_block;
        for (const char* c = name; *c != 0; ++c) {
            if (!made->name.push(*c)) return cuda_error<Api>(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a CUDA kernel");
        }
        for (std::uint32_t d = 0; d < devices_.count(); ++d) {
            const CudaCurrent<Api> current(devices_.context(static_cast<DeviceId>(d)));
            CUfunction function = nullptr;
            const CUresult result = get(d, function);
            if (result != CUDA_SUCCESS) {
                return named(cuda_error<Api>(result, "a CUDA module has no kernel of this name"), *made);
            }
            if (Status status = check(function, info, *made); !status.ok()) return status;
            allow_shared(function, d);
            if (!made->functions.push(function)) {
                return cuda_error<Api>(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a CUDA kernel");
            }
        }
        return made;
    }

private:
    ~CudaModuleState() {
        while (functions_ != nullptr) delete std::exchange(functions_, functions_->next);
        for (std::uint32_t d = 0; d < modules_.size(); ++d) {
            const CudaCurrent<Api> current(devices_.context(static_cast<DeviceId>(d)));
            (void)Api::cuModuleUnload(modules_[d]);
        }
    }

    /// More than 48 KiB of shared memory must be allowed before a launch asks for it; a launch that asks for more than
    /// there is fails by itself.
    /// Source: CUDA C++ Programming Guide, "Shared Memory" of compute capability 7.x and later.
    void allow_shared(CUfunction function, std::uint32_t device) noexcept {
        int most = 0;
        int own = 0;
        const CUdevice number = (*devices_.shared())[static_cast<DeviceId>(device)].device;
        if (Api::cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, number) !=
                CUDA_SUCCESS ||
            Api::cuFuncGetAttribute(&own, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function) != CUDA_SUCCESS) {
            return;
        }
        (void)Api::cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most - own);
    }

    [[nodiscard]] static Error named(Error error, const CudaFunction& function) noexcept {
        error.op_name = ShortName({function.name.data(), function.name.size()});
        return error;
    }

    [[nodiscard]] static Status check(CUfunction function, const KernelInfo& info, const CudaFunction& made) noexcept {
        const std::uint32_t count = made.is_via_block ? 1 : info.argument_count;
        for (std::uint32_t i = 0; i <= count; ++i) {
            std::size_t offset = 0;
            std::size_t bytes = 0;
            const CUresult result = Api::cuFuncGetParamInfo(function, i, &offset, &bytes);
            const bool is_there = result == CUDA_SUCCESS;
            if (!is_there && result != CUDA_ERROR_INVALID_VALUE) {
                return named(cuda_error<Api>(result, "a CUDA kernel does not say what it takes"), made);
            }
            Error error;
            error.code = ErrorCode::invalid_argument;
            error.has_value = true;
            if (is_there != (i < count)) {
                error.text = "a CUDA kernel has more or fewer parameters than its CudaKernel type";
                error.value = i;
                error.limit = count;
                error.value_is = "parameter";
                error.limit_is = "in the type";
                return named(error, made);
            }
            if (!is_there) break;
            const ArgumentInfo argument = made.is_via_block ? ArgumentInfo{0, sizeof(CUdeviceptr), ArgumentRole::value}
                                                            : info.arguments[i];
            if (offset != argument.offset || bytes != argument.bytes) {
                error.text = "a parameter of a CUDA kernel has another place or size than in its CudaKernel type";
                error.value = static_cast<std::int64_t>(bytes);
                error.limit = argument.bytes;
                error.value_is = "bytes in the kernel";
                error.limit_is = "in the type";
                return named(error, made);
            }
        }
        return {};
    }

    std::atomic<std::uint32_t> holders_{1};
    BasicCudaDevices<Api> devices_;
    Array<CUmodule> modules_;  // by device
    CudaFunction* functions_ = nullptr;
};

}  // namespace detail

/// A kernel of a module: `CudaKernel<float, In<float>, Out<float>>` for `__global__ void f(float, const float*,
/// float*)`. Got from `CudaModule::kernel`. Lifetime: of the module.
template <class... P>
struct CudaKernel {
    using split = detail::split_via_block<detail::Types<>, P...>;
    using family = CudaFamily;
    using parameters = typename split::types;
    using layout = typename split::layout;
    static constexpr bool is_via_block = split::is_via_block;
    static constexpr KernelInfo info{"kernel",
                                     6,
                                     layout::data.bytes,
                                     layout::data.align,
                                     layout::data.dims_offset,
                                     static_cast<std::uint32_t>(layout::count),
                                     layout::data.arguments};

    [[nodiscard]] std::uintptr_t handle() const noexcept { return reinterpret_cast<std::uintptr_t>(function); }
    [[nodiscard]] Text name() const noexcept {
        return function == nullptr ? Text("kernel")
                                   : Text(Span<const char>{function->name.data(), function->name.size()});
    }

    const detail::CudaFunction* function = nullptr;
};

/// Code for all devices of a `BasicCudaDevices`. A handle: copies share it.
/// Lifetime: must outlive the graphs that launch its kernels.
template <class Api>
class BasicCudaModule {
public:
    BasicCudaModule(const BasicCudaModule& other) noexcept : state_(other.state_) { state_->hold(); }
    BasicCudaModule& operator=(const BasicCudaModule& other) noexcept {
        other.state_->hold();
        std::exchange(state_, other.state_)->let_go();
        return *this;
    }
    ~BasicCudaModule() { state_->let_go(); }

    /// PTX that ends in a zero, a cubin, or a fat binary.
    [[nodiscard]] static Result<BasicCudaModule> load(const BasicCudaDevices<Api>& devices,
                                                      const void* image) noexcept {
        Result<BasicCudaModule> module = empty(devices);
        if (!module) return module;
        if (Status status = module->state_->load(image); !status.ok()) return status;
        return module;
    }

    /// Of kernels that come another way: see the second `kernel`.
    [[nodiscard]] static Result<BasicCudaModule> empty(const BasicCudaDevices<Api>& devices) noexcept {
        auto* state = new (std::nothrow) detail::CudaModuleState<Api>(devices);
        if (state == nullptr) return detail::cuda_error<Api>(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a CUDA module");
        return BasicCudaModule(state);
    }

    /// Errors: backend_failure where there is no such kernel; invalid_argument where its parameters are not `P`.
    template <class... P>
    [[nodiscard]] Result<CudaKernel<P...>> kernel(const char* name) const noexcept {
        using Kernel = CudaKernel<P...>;
        Result<const detail::CudaFunction*> function = state_->function(name, Kernel::info, Kernel::is_via_block);
        if (!function) return function.status();
        return Kernel{*function};
    }
    /// A kernel of which there are functions already, one for each device: `cudaGetFuncBySymbol` gives them for a
    /// `__global__` function of the program.
    template <class... P>
    [[nodiscard]] Result<CudaKernel<P...>> kernel(const char* name, Span<const CUfunction> functions) const noexcept {
        using Kernel = CudaKernel<P...>;
        const auto get = [&](std::uint32_t device, CUfunction& function) {
            if (device >= functions.size()) return CUDA_ERROR_NOT_FOUND;
            function = functions[device];
            return CUDA_SUCCESS;
        };
        Result<const detail::CudaFunction*> function = state_->function(name, Kernel::info, Kernel::is_via_block, get);
        if (!function) return function.status();
        return Kernel{*function};
    }

private:
    explicit BasicCudaModule(detail::CudaModuleState<Api>* state) noexcept : state_(state) {}

    detail::CudaModuleState<Api>* state_;
};

}  // namespace graphjit::inline v0
