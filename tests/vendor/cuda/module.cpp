// Module management and the attributes of functions. An image is text; see README.md.
#include "call.hpp"
#include "memory.hpp"

#include <algorithm>
#include <sstream>

using namespace test::cuda;

namespace {

constexpr int shared_per_block = 48 * 1024, shared_per_block_optin = 227 * 1024;

bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

std::string name_at_start(const std::string& text) {
    return {text.begin(), std::find_if_not(text.begin(), text.end(), is_name)};
}

/// The entries, and the variables with their sizes. False if this is no module.
bool parse(const std::string& image, std::vector<std::string>& entries, std::map<std::string, std::size_t>& variables) {
    std::istringstream words(image);
    std::string word;
    bool has_version = false, in_variable = false;
    while (words >> word) {
        // ".version must be the first directive" (PTX ISA).
        if (!has_version && word != ".version") return false;
        has_version = true;
        if (word == ".entry") {
            if (!(words >> word) || name_at_start(word).empty()) return false;
            entries.push_back(name_at_start(word));
        } else if (word == ".global") {
            in_variable = true;
        } else if (in_variable && is_name(word[0]) && word.find('[') != std::string::npos) {
            const std::string name = name_at_start(word);
            variables[name] = static_cast<std::size_t>(std::strtoull(word.c_str() + name.size() + 1, nullptr, 10));
            in_variable = false;
        }
    }
    return has_version;
}

FunctionPtr make_function(const Module& module, std::shared_ptr<const Kernel> kernel) {
    auto function = std::make_shared<Function>();
    function->handle = state().new_handle<CUfunction>();
    function->module = module.handle;
    function->context = module.context;
    function->max_dynamic_shared = std::max(0, shared_per_block - static_cast<int>(kernel->static_shared));
    function->kernel = std::move(kernel);
    return function;
}

CUresult load(CUmodule* result, const void* image, const Call& call) {
    if (result == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const char* const text = static_cast<const char*>(image);
    const auto is_text = [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\t' || c == '\r'; };
    if (!std::all_of(text, text + std::strlen(text), is_text) || *text == '\0') return CUDA_ERROR_INVALID_IMAGE;
    auto module = std::make_shared<Module>();
    std::map<std::string, std::size_t> variables;
    if (!parse(text, module->entries, variables)) return CUDA_ERROR_INVALID_PTX;
    State& s = state();
    for (const std::string& entry : module->entries)
        if (!s.kernels.contains(entry)) return CUDA_ERROR_INVALID_PTX;
    module->handle = s.new_handle<CUmodule>();
    module->context = call.context;
    for (const auto& [name, bytes] : variables) {
        const std::uintptr_t made = bytes == 0 ? 0 : allocate_device(call.context, bytes, true);
        if (made == 0) {
            for (const auto& [other, address] : module->variables) free_variable(address);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        module->variables[name] = made;
        std::memset(reinterpret_cast<void*>(made), 0, bytes);
    }
    s.modules.all.emplace(module->handle, module);
    *result = module->handle;
    return CUDA_SUCCESS;
}

}  // namespace

CUDA_CALL cuModuleLoadData(CUmodule* module, const void* image) {
    const Call call("cuModuleLoadData");
    return call.refused() ? call.error : load(module, image, call);
}

// Options are for a compiler that is not there.
CUDA_CALL cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int numOptions, CUjit_option* options,
                             void** optionValues) {
    const Call call("cuModuleLoadDataEx");
    if (call.refused()) return call.error;
    if (numOptions > 0 && (options == nullptr || optionValues == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    return load(module, image, call);
}

CUDA_CALL cuModuleUnload(CUmodule hmod) {
    const Call call("cuModuleUnload", Needs::context, AfterFault::go_on);
    if (call.refused()) return call.error;
    State& s = state();
    const auto module = s.modules.find(hmod);
    if (!module) return CUDA_ERROR_INVALID_VALUE;
    for (const auto& [name, function] : module->functions) {
        function->unloaded = true;
        s.functions.all.erase(function->handle);
    }
    for (const auto& [name, address] : module->variables) free_variable(address);
    s.modules.all.erase(hmod);
    return call.done();
}

CUDA_CALL cuModuleGetFunction(CUfunction* hfunc, CUmodule hmod, const char* name) {
    const Call call("cuModuleGetFunction");
    if (call.refused()) return call.error;
    State& s = state();
    const auto module = s.modules.find(hmod);
    if (hfunc == nullptr || name == nullptr || !module) return CUDA_ERROR_INVALID_VALUE;
    if (std::find(module->entries.begin(), module->entries.end(), name) == module->entries.end())
        return CUDA_ERROR_NOT_FOUND;
    FunctionPtr& function = module->functions[name];
    if (!function) {
        function = make_function(*module, s.kernels.at(name));
        s.functions.all.emplace(function->handle, function);
    }
    *hfunc = function->handle;
    return CUDA_SUCCESS;
}

CUDA_CALL cuModuleGetGlobal(CUdeviceptr* dptr, std::size_t* bytes, CUmodule hmod, const char* name) {
    const Call call("cuModuleGetGlobal");
    if (call.refused()) return call.error;
    const auto module = state().modules.find(hmod);
    if (!module || name == nullptr || (dptr == nullptr && bytes == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    const auto found = module->variables.find(name);
    if (found == module->variables.end()) return CUDA_ERROR_NOT_FOUND;
    if (dptr != nullptr) *dptr = found->second;
    if (bytes != nullptr) *bytes = find_live(found->second)->size;
    return CUDA_SUCCESS;
}

// --- functions -------------------------------------------------------------------------------------------------------

CUDA_CALL cuFuncGetAttribute(int* pi, CUfunction_attribute attrib, CUfunction hfunc) {
    const Call call("cuFuncGetAttribute");
    if (call.refused()) return call.error;
    const FunctionPtr function = state().functions.find(hfunc);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    if (pi == nullptr) return CUDA_ERROR_INVALID_VALUE;
    switch (attrib) {
        case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *pi = function->kernel->max_threads; break;
        case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *pi = static_cast<int>(function->kernel->static_shared); break;
        case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *pi = function->max_dynamic_shared; break;
        case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *pi = function->carveout; break;
        case CU_FUNC_ATTRIBUTE_NUM_REGS: *pi = 32; break;
        case CU_FUNC_ATTRIBUTE_PTX_VERSION: *pi = 80; break;
        case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *pi = 90; break;
        default:
            if (attrib < 0 || attrib >= CU_FUNC_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
            *pi = 0;
    }
    return CUDA_SUCCESS;
}

CUDA_CALL cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
    const Call call("cuFuncSetAttribute");
    if (call.refused()) return call.error;
    const FunctionPtr function = state().functions.find(hfunc);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    if (attrib == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
        const int most = shared_per_block_optin - static_cast<int>(function->kernel->static_shared);
        if (value < 0 || value > most) return CUDA_ERROR_INVALID_VALUE;
        function->max_dynamic_shared = value;
        return CUDA_SUCCESS;
    }
    if (attrib == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
        if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
        function->carveout = value;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;  // read-only, or about clusters, which are not modelled
}

CUDA_CALL cuFuncGetParamInfo(CUfunction func, std::size_t paramIndex, std::size_t* paramOffset,
                             std::size_t* paramSize) {
    const Call call("cuFuncGetParamInfo", Needs::work);
    if (call.refused()) return call.error;
    const FunctionPtr function = state().functions.find(func);
    if (!function || paramOffset == nullptr || paramIndex >= function->kernel->parameters.size())
        return CUDA_ERROR_INVALID_VALUE;
    *paramOffset = function->kernel->parameters[paramIndex].offset;
    if (paramSize != nullptr) *paramSize = function->kernel->parameters[paramIndex].size;
    return CUDA_SUCCESS;
}

CUDA_CALL cuFuncGetModule(CUmodule* hmod, CUfunction hfunc) {
    const Call call("cuFuncGetModule");
    if (call.refused()) return call.error;
    const FunctionPtr function = state().functions.find(hfunc);
    if (!function || hmod == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *hmod = function->module;
    return CUDA_SUCCESS;
}

CUDA_CALL cuFuncGetName(const char** name, CUfunction hfunc) {
    const Call call("cuFuncGetName", Needs::work);
    if (call.refused()) return call.error;
    const FunctionPtr function = state().functions.find(hfunc);
    if (!function || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *name = function->kernel->name.c_str();
    return CUDA_SUCCESS;
}
