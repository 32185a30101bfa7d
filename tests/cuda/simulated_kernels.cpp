#include "cuda/simulated_kernels.hpp"

#include "cuda/kernels.hpp"

#include <chrono>
#include <thread>

namespace test {
namespace {

using cuda::Launch;

template <class T>
bool may(const Launch& launch, const T* memory, Int n) {
    return n == 0 || launch.check(memory, sizeof(T) * static_cast<std::size_t>(n));
}
Int threads_of(const Launch& launch) { return static_cast<Int>(launch.grid.x * launch.block.x); }

void fill(const Launch& launch, Int* o, Int v, Int n) {
    if (!may(launch, o, n)) return;
    for (Int i = 0; i < n; ++i) o[i] = v;
}
void slow_fill(const Launch& launch, Int* o, Int v, Int n) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    fill(launch, o, v, n);
}
void mix(const Launch& launch, Int* o, const Int* a, Int k, Int n) {
    if (!may(launch, o, n) || !may(launch, a, n)) return;
    for (Int i = 0; i < n; ++i) {
        o[i] = static_cast<Int>(3u * static_cast<std::uint32_t>(a[i]) + static_cast<std::uint32_t>(k));
    }
}
void add(const Launch& launch, Int* o, const Int* a, const Int* b, Int n) {
    if (!may(launch, o, n) || !may(launch, a, n) || !may(launch, b, n)) return;
    for (Int i = 0; i < n; ++i) o[i] = a[i] + b[i];
}
void inc(const Launch& launch, Int* x, Int n) {
    if (!may(launch, x, n)) return;
    for (Int i = 0; i < n; ++i) ++x[i];
}
void iota(const Launch& launch, Int* o) {
    const Int n = threads_of(launch);
    if (!may(launch, o, n)) return;
    for (Int i = 0; i < n; ++i) o[i] = i + 1;
}
void reverse(const Launch& launch, Int* x) {
    const auto block = static_cast<Int>(launch.block.x);
    if (!may(launch, x, threads_of(launch))) return;
    if (launch.dynamic_shared < sizeof(Int) * launch.block.x)
        return;  // a device would fault; this shows as a wrong value
    auto* shared = reinterpret_cast<Int*>(launch.shared);
    for (unsigned b = 0; b < launch.grid.x; ++b, x += block) {
        for (Int i = 0; i < block; ++i) shared[i] = x[i];
        for (Int i = 0; i < block; ++i) x[i] = shared[block - 1 - i];
    }
}
void echo(const Launch& launch, Echo* o, const Int* p, Int a, const Int* q, std::int8_t b, std::int64_t c, Int d,
          double f) {
    if (!may(launch, o, 1) || !may(launch, p, 1) || !may(launch, q, 1)) return;
    *o = {*p, a, *q, b * 1000LL + d, c, f};
}

struct FillArguments {
    Int* o;
    Int v;
    Int n;
};
struct MixArguments {
    Int* o;
    const Int* a;
    Int k;
    Int n;
};
void fill_via(const Launch& launch, const FillArguments* given) {
    if (may(launch, given, 1)) fill(launch, given->o, given->v, given->n);
}
void mix_via(const Launch& launch, const MixArguments* given) {
    if (may(launch, given, 1)) mix(launch, given->o, given->a, given->k, given->n);
}

}  // namespace

void register_simulated_kernels() {
    cuda::register_kernel("fill", &fill);
    cuda::register_kernel("slow_fill", &slow_fill);
    cuda::register_kernel("mix", &mix);
    cuda::register_kernel("add", &add);
    cuda::register_kernel("inc", &inc);
    cuda::register_kernel("iota", &iota);
    cuda::register_kernel("reverse", &reverse);
    cuda::register_kernel("echo", &echo);
    cuda::register_kernel("fill_via", &fill_via);
    cuda::register_kernel("mix_via", &mix_via);
}

}  // namespace test
