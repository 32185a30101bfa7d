// The CUDA kernels of tests, for real devices: nvcc -ptx kernels.cu
struct Echo {
    long long a, b, c, d, e;
    double f;
};
struct FillArguments {
    int* o;
    int v;
    int n;
};
struct MixArguments {
    int* o;
    const int* a;
    int k;
    int n;
};

static __device__ int thread_number() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

extern "C" {

__global__ void fill(int* o, int v, int n) {
    for (int i = thread_number(); i < n; i += gridDim.x * blockDim.x) o[i] = v;
}
__global__ void slow_fill(int* o, int v, int n) {
    const long long start = clock64();
    while (clock64() - start < 200000) {}
    for (int i = thread_number(); i < n; i += gridDim.x * blockDim.x) o[i] = v;
}
__global__ void mix(int* o, const int* a, int k, int n) {
    for (int i = thread_number(); i < n; i += gridDim.x * blockDim.x) o[i] = static_cast<int>(3u * a[i] + k);
}
__global__ void add(int* o, const int* a, const int* b, int n) {
    for (int i = thread_number(); i < n; i += gridDim.x * blockDim.x) o[i] = a[i] + b[i];
}
__global__ void inc(int* x, int n) {
    for (int i = thread_number(); i < n; i += gridDim.x * blockDim.x) ++x[i];
}
__global__ void iota(int* o) { o[thread_number()] = thread_number() + 1; }
__global__ void reverse(int* x) {
    extern __shared__ int shared[];
    shared[threadIdx.x] = x[thread_number()];
    __syncthreads();
    x[thread_number()] = shared[blockDim.x - 1 - threadIdx.x];
}
__global__ void echo(Echo* o, const int* p, int a, const int* q, char b, long long c, int d, double f) {
    if (thread_number() == 0) *o = {*p, a, *q, b * 1000LL + d, c, f};
}
__global__ void fill_via(const FillArguments* g) {
    for (int i = thread_number(); i < g->n; i += gridDim.x * blockDim.x) g->o[i] = g->v;
}
__global__ void mix_via(const MixArguments* g) {
    for (int i = thread_number(); i < g->n; i += gridDim.x * blockDim.x) g->o[i] = static_cast<int>(3u * g->a[i] + g->k);
}

}  // extern "C"
