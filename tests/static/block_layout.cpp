// Argument blocks: offsets, size and alignment are those of the C struct of the same members.
#include <graphjit/record/host_kernel.hpp>

#include <cstddef>
#include <cstdint>

namespace gj = graphjit;
using gj::ArgumentRole;

namespace test {

template <class... P>
inline constexpr auto layout = gj::detail::BlockLayout<P...>::data;

template <class Layout>
constexpr bool offsets_are(const Layout& data, std::initializer_list<std::size_t> offsets) {
    std::size_t i = 0;
    for (const std::size_t offset : offsets) {
        if (data.arguments[i].offset != offset || data.parameter_offset[i] != offset) return false;
        ++i;
    }
    return i == sizeof data.arguments / sizeof data.arguments[0];
}

/// The block ends behind its last member; a struct is padded to its alignment.
constexpr std::size_t padded(std::size_t bytes, std::size_t align) { return (bytes + align - 1) / align * align; }

// --- Case 39: every width, pointers between them, and a 64-bit integer behind an 8-bit one ---------------------------

struct AllWidths {
    float* a;
    std::int32_t b;
    float* c;
    std::int8_t d;
    std::int64_t e;
    std::int32_t f;
    double g;
    float* h;
};
inline constexpr auto all_widths =
    layout<float*, std::int32_t, float*, std::int8_t, std::int64_t, std::int32_t, double, float*>;
static_assert(offsets_are(all_widths, {offsetof(AllWidths, a), offsetof(AllWidths, b), offsetof(AllWidths, c),
                                       offsetof(AllWidths, d), offsetof(AllWidths, e), offsetof(AllWidths, f),
                                       offsetof(AllWidths, g), offsetof(AllWidths, h)}));
static_assert(all_widths.bytes == sizeof(AllWidths) && all_widths.align == alignof(AllWidths));

// Ending on an i32: the struct has padding there, the block has not.
struct EndsNarrow {
    float* a;
    std::int32_t b;
    float* c;
    std::int8_t d;
    std::int64_t e;
    std::int32_t f;
};
inline constexpr auto ends_narrow = layout<float*, std::int32_t, float*, std::int8_t, std::int64_t, std::int32_t>;
static_assert(offsets_are(ends_narrow, {offsetof(EndsNarrow, a), offsetof(EndsNarrow, b), offsetof(EndsNarrow, c),
                                        offsetof(EndsNarrow, d), offsetof(EndsNarrow, e), offsetof(EndsNarrow, f)}));
static_assert(ends_narrow.bytes == offsetof(EndsNarrow, f) + sizeof(std::int32_t));
static_assert(padded(ends_narrow.bytes, ends_narrow.align) == sizeof(EndsNarrow));

// --- One value, no value ---------------------------------------------------------------------------------------------

static_assert(layout<>.bytes == 0 && layout<>.align == 1);
static_assert(gj::detail::BlockLayout<>::count == 0 && !gj::detail::BlockLayout<>::has_dims);
static_assert(layout<std::int8_t>.bytes == 1 && layout<std::int8_t>.align == 1);
static_assert(layout<std::int8_t, std::int8_t, std::int16_t>.bytes == 4);
static_assert(layout<std::int8_t, std::int16_t, std::int8_t>.bytes == 5);

// --- Values that are structs keep their own layout and alignment -----------------------------------------------------

struct Vec3 {
    float x, y, z;
};
struct alignas(16) Vec4 {
    float x, y, z, w;
};
struct Structs {
    char a;
    Vec3 b;
    char c;
    Vec4 d;
    char e;
};
inline constexpr auto structs = layout<char, Vec3, char, Vec4, char>;
static_assert(offsets_are(structs, {offsetof(Structs, a), offsetof(Structs, b), offsetof(Structs, c),
                                    offsetof(Structs, d), offsetof(Structs, e)}));
static_assert(structs.align == 16 && structs.bytes == offsetof(Structs, e) + 1);
static_assert(structs.arguments[1].bytes == sizeof(Vec3) && structs.arguments[3].bytes == sizeof(Vec4));

// --- Launch dims stand behind all arguments, wherever the kernel names them ------------------------------------------

struct WithDims {
    char a;
    float* b;
    char c;
    gj::LaunchDims dims;
};
inline constexpr auto dims_first = layout<gj::LaunchDims, char, float*, char>;
inline constexpr auto dims_between = layout<char, gj::LaunchDims, float*, char>;
inline constexpr auto dims_last = layout<char, float*, char, gj::LaunchDims>;
static_assert(dims_first.dims_offset == offsetof(WithDims, dims) &&
              dims_between.dims_offset == dims_first.dims_offset && dims_last.dims_offset == dims_first.dims_offset);
static_assert(dims_first.bytes == offsetof(WithDims, dims) + sizeof(gj::LaunchDims));
// Arguments are counted without the dims, parameters with them.
static_assert(gj::detail::BlockLayout<char, gj::LaunchDims, float*, char>::count == 3);
static_assert(dims_between.arguments[1].offset == offsetof(WithDims, b) &&
              dims_between.arguments[2].offset == offsetof(WithDims, c));
static_assert(dims_between.parameter_offset[0] == 0 && dims_between.parameter_offset[1] == offsetof(WithDims, dims) &&
              dims_between.parameter_offset[2] == offsetof(WithDims, b) &&
              dims_between.parameter_offset[3] == offsetof(WithDims, c));
static_assert(dims_first.parameter_offset[0] == offsetof(WithDims, dims) && dims_first.parameter_offset[1] == 0);
static_assert(layout<char>.dims_offset == gj::KernelInfo::no_dims);

// --- How each kind of parameter is used ------------------------------------------------------------------------------

template <class P>
inline constexpr gj::ArgumentInfo argument = layout<P>.arguments[0];
static_assert(argument<const float*>.role == ArgumentRole::in && argument<gj::In<float>>.role == ArgumentRole::in);
static_assert(argument<float*>.role == ArgumentRole::in_out && argument<gj::InOut<float>>.role == ArgumentRole::in_out);
static_assert(argument<gj::Out<float>>.role == ArgumentRole::out && argument<gj::Out<float>>.bytes == sizeof(float*));
static_assert(argument<float>.role == ArgumentRole::value && argument<Vec3>.role == ArgumentRole::value);
static_assert(argument<const void*>.role == ArgumentRole::in && argument<void*>.role == ArgumentRole::in_out);
static_assert(argument<const char* const*>.role == ArgumentRole::in, "only the outer pointer counts");

// --- A host kernel says the same at run time -------------------------------------------------------------------------

void echo(const float*, std::int32_t, gj::Out<float>, std::int64_t);
using Echo = gj::HostKernel<echo>;
static_assert(Echo::info.argument_count == 4 && Echo::info.dims_offset == gj::KernelInfo::no_dims);
static_assert(Echo::info.arguments[0].role == ArgumentRole::in && Echo::info.arguments[2].role == ArgumentRole::out);

static_assert(gj::host_block_stride(0) == 0 && gj::host_block_stride(1) == 8 && gj::host_block_stride(8) == 8 &&
              gj::host_block_stride(9) == 16);

}  // namespace test
