// Handles are small plain values, and convert only where nothing is lost.
#include <graphjit/record/handles.hpp>

#include <graphjit/graph.hpp>

#include <type_traits>

namespace gj = graphjit;

namespace test {

template <class T>
inline constexpr bool plain = std::is_trivially_copyable_v<T> && std::is_nothrow_default_constructible_v<T>;

struct Particle {
    float x, y, z;
};

static_assert(plain<gj::Buffer<float>> && plain<gj::Buffer<const float>> && plain<gj::Buffer<Particle>>);
static_assert(plain<gj::Input<float>> && plain<gj::Input<const Particle>>);
static_assert(plain<gj::Variable> && plain<gj::Slot<double>> && plain<gj::Slot<Particle>> && plain<gj::Token>);
static_assert(plain<gj::ExtraAccess<gj::Buffer<float>>> == std::is_trivially_copyable_v<gj::Buffer<float>>);

// An Expr copies only the part of itself that is in use, so it and what holds one are not trivially copyable.
static_assert(std::is_nothrow_copy_constructible_v<gj::Expr> && std::is_nothrow_copy_assignable_v<gj::Expr> &&
              std::is_trivially_destructible_v<gj::Expr>);
static_assert(std::is_nothrow_copy_constructible_v<gj::SymbolicBuffer<float>> &&
              std::is_nothrow_copy_assignable_v<gj::SymbolicBuffer<float>> &&
              std::is_trivially_destructible_v<gj::SymbolicBuffer<float>>);

// What errors are made of outlives what it tells of.
static_assert(std::is_trivially_copyable_v<gj::Error> && std::is_nothrow_copy_constructible_v<gj::Status> &&
              std::is_nothrow_copy_assignable_v<gj::Status> && std::is_trivially_destructible_v<gj::Status> &&
              std::is_trivially_copyable_v<gj::ShortName> && std::is_trivially_copyable_v<gj::ErrorText>);

// Handles stay small enough to be passed by value without thought.
static_assert(sizeof(gj::Variable) == 8 && sizeof(gj::Slot<Particle>) == 8);
static_assert(sizeof(gj::Buffer<float>) <= 24 && sizeof(gj::Input<float>) <= 32);

// --- Conversions -----------------------------------------------------------------------------------------------------

template <class From, class To>
inline constexpr bool converts = std::is_convertible_v<From, To>;

static_assert(converts<gj::Buffer<float>, gj::Buffer<const float>>);
static_assert(!converts<gj::Buffer<const float>, gj::Buffer<float>>);
static_assert(!converts<gj::Buffer<float>, gj::Buffer<int>> && !converts<gj::Buffer<float>, gj::Buffer<const int>>);
static_assert(converts<gj::SymbolicBuffer<float>, gj::SymbolicBuffer<const float>>);
static_assert(!converts<gj::SymbolicBuffer<const float>, gj::SymbolicBuffer<float>>);
static_assert(converts<gj::Input<float>, gj::Buffer<float>> && converts<gj::Input<float>, gj::Buffer<const float>>);
static_assert(!converts<gj::Buffer<float>, gj::Input<float>>, "a buffer is not a slot");

static_assert(converts<gj::Variable, gj::Expr> && !converts<gj::Expr, gj::Variable>);
static_assert(!converts<gj::Slot<int>, gj::Expr> && !converts<gj::Slot<int>, int>);
static_assert(converts<int, gj::Expr> && converts<unsigned char, gj::Expr> && converts<unsigned long long, gj::Expr>);
static_assert(!converts<bool, gj::Expr> && !converts<double, gj::Expr> && !converts<float*, gj::Expr> &&
              !converts<gj::SlotIndex, gj::Expr>);

// Strong indices: neither numbers nor each other.
static_assert(!converts<gj::OpIndex, unsigned> && !converts<unsigned, gj::OpIndex> &&
              !converts<gj::OpIndex, gj::SlotIndex> && !converts<gj::MemoryIndex, gj::SlotIndex> &&
              !converts<int, gj::DeviceId>);

// --- Views -----------------------------------------------------------------------------------------------------------

template <class T>
using BufferOf = gj::Buffer<T>;
static_assert(std::is_same_v<decltype(BufferOf<float>().slice(0, 1)), gj::Buffer<float>>);
static_assert(std::is_same_v<decltype(BufferOf<float>().slice(gj::Variable(), 1)), gj::SymbolicBuffer<float>>);
static_assert(std::is_same_v<decltype(BufferOf<float>().slice(0, gj::Variable() * 2)), gj::SymbolicBuffer<float>>);
static_assert(std::is_same_v<decltype(gj::Input<float>().slice(0, 1)), gj::Buffer<float>>, "a part is not a slot");
static_assert(std::is_same_v<decltype(BufferOf<float>().as<const int>()), gj::Buffer<const int>>);
static_assert(BufferOf<float>().size() == 0 && gj::Token().size() == 0);
static_assert(gj::Variable().slot() == gj::SlotIndex::none && gj::Slot<int>().slot() == gj::SlotIndex::none &&
              gj::Input<int>().slot() == gj::SlotIndex::none);

// --- Parameters as kernels see them ----------------------------------------------------------------------------------

static_assert(plain<gj::In<float>> && plain<gj::Out<float>> && plain<gj::InOut<float>>);
static_assert(sizeof(gj::Out<float>) == sizeof(float*));
static_assert(converts<gj::In<float>, const float*> && !converts<gj::In<float>, float*>);
static_assert(converts<gj::Out<float>, float*> && converts<gj::InOut<float>, float*>);
static_assert(gj::reads(gj::Access::in) && !gj::writes(gj::Access::in));
static_assert(!gj::reads(gj::Access::out) && gj::writes(gj::Access::out));
static_assert(gj::reads(gj::Access::in_out) && gj::writes(gj::Access::in_out));

// --- Launch dims -----------------------------------------------------------------------------------------------------

static_assert(sizeof(gj::LaunchDims) == 7 * sizeof(std::uint32_t));
static_assert(converts<gj::LaunchDims, gj::LaunchExprs> && !converts<gj::LaunchExprs, gj::LaunchDims>);
static_assert(gj::work_items_x(gj::LaunchDims{.groups = {0x1'0000}, .group_size = {0x1'0000}}) == 0x1'0000'0000u);
static_assert(!gj::is_empty(gj::LaunchDims{}) && gj::is_empty(gj::LaunchDims{.groups = {4, 0, 1}}) &&
              gj::is_empty(gj::LaunchDims{.groups = {0, 1, 1}}) && gj::is_empty(gj::LaunchDims{.groups = {1, 1, 0}}));

}  // namespace test
