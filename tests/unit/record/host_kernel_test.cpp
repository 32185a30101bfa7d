#include <graphjit/record/host_kernel.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <string>

// Not in an unnamed namespace: their names are under test.
namespace kernels_under_test {

enum class Mode { slow, fast };

void gain(float, const float*, graphjit::Out<float>) {}
template <int N>
void scaled(float*) {}
template <class T>
void typed(T*) {}
template <Mode M>
void chosen(float*) {}
struct Filter {
    static void run(float*) {}
    struct Inner {
        static void step(float*) noexcept {}
    };
};
inline constexpr auto in_a_variable = [](float*) {};

}  // namespace kernels_under_test

void graphjit_global_kernel(float*) {}

namespace {

namespace gj = graphjit;
using namespace kernels_under_test;

void unnamed(float*) {}

template <auto F>
std::string name_of() {
    const gj::KernelInfo& info = gj::HostKernel<F>::info;
    return {info.name, info.name_size};
}

TEST_CASE("host kernel: its name is the function's, without where it lives") {
    CHECK(name_of<gain>() == "gain");
    CHECK(name_of<&gain>() == "gain");
    CHECK(name_of<graphjit_global_kernel>() == "graphjit_global_kernel");
    CHECK(name_of<&Filter::run>() == "run");
    CHECK(name_of<&Filter::Inner::step>() == "step");
    CHECK(name_of<unnamed>() == "unnamed");
}

TEST_CASE("host kernel: a template's name is its own, with arguments where the compiler tells them") {
    const auto begins_with = [](const std::string& name, const std::string& own) {
        return name == own || (name.starts_with(own + '<') && name.ends_with('>'));
    };
    CHECK(begins_with(name_of<scaled<4>>(), "scaled"));
    CHECK(begins_with(name_of<scaled<-4>>(), "scaled"));
    CHECK(begins_with(name_of<typed<int>>(), "typed"));
    CHECK(begins_with(name_of<typed<Filter::Inner>>(), "typed"));
    CHECK(begins_with(name_of<typed<void(int)>>(), "typed"));
    CHECK(begins_with(name_of<chosen<Mode::fast>>(), "chosen"));
    CHECK(begins_with(name_of<chosen<static_cast<Mode>(7)>>(), "chosen"));
#if !defined(__clang__)
    CHECK(name_of<scaled<4>>() == "scaled<4>");
#endif
}

TEST_CASE("host kernel: a lambda is called lambda") {
    CHECK(name_of<[](float*) {}>() == "lambda");
    CHECK(name_of<[](float*, int) noexcept {}>() == "lambda");
    CHECK(name_of<in_a_variable>() == "lambda");
}

// --- Entries ---------------------------------------------------------------------------------------------------------

/// What a kernel saw, since it returns nothing.
struct Seen {
    int calls = 0;
    char a = 0;
    double b = 0;
    const float* c = nullptr;
    short d = 0;
    float* e = nullptr;
    gj::LaunchDims dims = {};
};
Seen seen;

void echo(char a, double b, const float* c, short d, gj::Out<float> e) { seen = {seen.calls + 1, a, b, c, d, e, {}}; }
void echo_dims(char a, const gj::LaunchDims& dims, gj::InOut<float> e) {
    seen = {seen.calls + 1, a, 0, nullptr, 0, e, dims};
}
void nothing() { ++seen.calls; }

/// Writes arguments into a block as a recorder does, by the kernel's own table.
template <class Kernel>
class Block {
public:
    Block() { std::memset(bytes_, 0xee, sizeof bytes_); }

    template <class T>
    Block& put(std::size_t argument, const T& value) {
        REQUIRE(sizeof value == Kernel::info.arguments[argument].bytes);
        std::memcpy(bytes_ + Kernel::info.arguments[argument].offset, &value, sizeof value);
        return *this;
    }
    Block& put_dims(const gj::LaunchDims& dims) {
        std::memcpy(bytes_ + Kernel::info.dims_offset, &dims, sizeof dims);
        return *this;
    }
    /// Runs the kernel; where its block ends, counted from its start.
    std::ptrdiff_t run() const {
        const auto entry = reinterpret_cast<gj::HostEntry>(Kernel().handle());
        return entry(bytes_) - bytes_;
    }

private:
    alignas(16) std::byte bytes_[128];
};

TEST_CASE("host kernel: its entry reads each argument from its place") {
    const float in = 1;
    float out = 2;
    using Echo = gj::HostKernel<echo>;
    Block<Echo> block;
    block.put(0, 'x').put(1, 2.5).put(2, &in).put(3, short{-7}).put(4, &out);
    seen = {};
    const std::ptrdiff_t end = block.run();
    CHECK(seen.calls == 1);
    CHECK(seen.a == 'x');
    CHECK(seen.b == 2.5);
    CHECK(seen.c == &in);
    CHECK(seen.d == -7);
    CHECK(seen.e == &out);
    CHECK(end == static_cast<std::ptrdiff_t>(gj::host_block_stride(Echo::info.block_bytes)));
}

TEST_CASE("host kernel: gets the dims of its launch, and is not called when they are empty") {
    float out = 0;
    using Echo = gj::HostKernel<echo_dims>;
    Block<Echo> block;
    block.put(0, 'y').put(1, &out);
    seen = {};
    const auto stride = static_cast<std::ptrdiff_t>(gj::host_block_stride(Echo::info.block_bytes));
    block.put_dims({.groups = {1, 2, 3}, .group_size = {4, 5, 6}});
    CHECK(block.run() == stride);
    CHECK(seen.calls == 1);
    CHECK(seen.a == 'y');
    CHECK(seen.e == &out);
    CHECK(seen.dims.groups.y == 2);
    CHECK(seen.dims.group_size.z == 6);
    for (const gj::Extent<std::uint32_t>& groups :
         {gj::Extent<std::uint32_t>{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {0, 0, 0}}) {
        block.put_dims({.groups = groups, .group_size = {1, 1, 1}});
        CHECK(block.run() == stride);
        CHECK(seen.calls == 1);
    }
}

TEST_CASE("host kernel: without arguments its block is empty") {
    using Nothing = gj::HostKernel<nothing>;
    CHECK(Nothing::info.block_bytes == 0);
    seen = {};
    CHECK(Block<Nothing>().run() == 0);
    CHECK(seen.calls == 1);
}

TEST_CASE("host kernel: a block ends where the next one's pointers may begin") {
    CHECK(gj::host_block_stride(0) == 0);
    CHECK(gj::host_block_stride(1) == sizeof(void*));
    CHECK(gj::host_block_stride(sizeof(void*)) == sizeof(void*));
    CHECK(gj::host_block_stride(sizeof(void*) + 1) == 2 * sizeof(void*));
}

TEST_CASE("host kernel: two functions are two handles, one function is one") {
    CHECK(gj::kernel<scaled<1>>.handle() != gj::kernel<scaled<2>>.handle());
    CHECK(gj::kernel<gain>.handle() == gj::HostKernel<gain>().handle());
    CHECK(gj::kernel<gain>.handle() != 0);
}

}  // namespace
