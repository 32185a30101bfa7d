// Which types can be launched: a yes list, and for each clause of `kernel_type` types that fail that clause alone.
#include <graphjit/record/kernel.hpp>

#include <graphjit/record/host_kernel.hpp>

namespace gj = graphjit;

namespace test {

struct SomeFamily {};

/// A kernel of another family, as a backend for a device has them: the handle is all there is at run time.
struct Minimal {
    using family = SomeFamily;
    using parameters = gj::detail::Types<>;
    static constexpr gj::KernelInfo info = {};
    [[nodiscard]] std::uintptr_t handle() const;
};

enum Clause : unsigned { family = 1, parameters = 2, info = 4, handle = 8 };

template <class K>
constexpr unsigned failed_clauses() {
    unsigned failed = family | parameters | info | handle;
    if constexpr (requires { typename K::family; }) failed &= ~unsigned{family};
    if constexpr (requires { typename K::parameters; }) failed &= ~unsigned{parameters};
    if constexpr (requires {
                      { K::info } -> std::convertible_to<const gj::KernelInfo&>;
                  }) {
        failed &= ~unsigned{info};
    }
    if constexpr (requires(const K& kernel) {
                      { kernel.handle() } -> std::same_as<std::uintptr_t>;
                  }) {
        failed &= ~unsigned{handle};
    }
    return failed;
}

template <class K>
inline constexpr bool accepted = gj::kernel_type<K> && failed_clauses<K>() == 0;
template <class K, unsigned Clauses>
inline constexpr bool refused = !gj::kernel_type<K> && failed_clauses<K>() == Clauses;

// --- Yes -------------------------------------------------------------------------------------------------------------

void gain(float, const float*, gj::Out<float>);
void quiet(float*) noexcept;
void nothing();

static_assert(accepted<Minimal>);
static_assert(accepted<gj::HostKernel<gain>>);
static_assert(accepted<gj::HostKernel<&gain>>);
static_assert(accepted<gj::HostKernel<quiet>>, "noexcept is no other kind of kernel");
static_assert(accepted<gj::HostKernel<nothing>>);
static_assert(accepted<gj::HostKernel<[](const gj::LaunchDims&, float*) {}>>);
static_assert(gj::kernel_type<std::remove_const_t<decltype(gj::kernel<gain>)>>);

// --- No --------------------------------------------------------------------------------------------------------------

static_assert(!gj::kernel_type<int> && !gj::kernel_type<decltype(&gain)> && !gj::kernel_type<void>);
static_assert(!gj::kernel_type<const char*>, "so a leading name is never taken for the kernel");

struct NoFamily : Minimal {
private:
    using family = int;
};
static_assert(refused<NoFamily, family>);

struct NoParameters : Minimal {
private:
    using parameters = int;
};
static_assert(refused<NoParameters, parameters>);

struct NoInfo : Minimal {
private:
    static constexpr gj::KernelInfo info = {};
};
static_assert(refused<NoInfo, info>);
struct OtherInfo : Minimal {
    static constexpr int info = 0;
};
static_assert(refused<OtherInfo, info>);

struct NoHandle : Minimal {
    void handle() = delete;
};
static_assert(refused<NoHandle, handle>);
struct HandleIsAPointer : Minimal {
    void* handle() const;
};
static_assert(refused<HandleIsAPointer, handle>);
struct HandleChangesTheKernel : Minimal {
    std::uintptr_t handle();
};
static_assert(refused<HandleChangesTheKernel, handle>);

}  // namespace test
