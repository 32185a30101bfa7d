// The kernels for CUDA, by the names that backend_cuda.hpp looks for. Each group is a block of one warp.
#include "kernels.hpp"

using graphjit::Out;

namespace {
__device__ decode::Group here() { return {blockIdx.x, blockIdx.y}; }
}  // namespace

extern "C" {

__global__ void rms_norm(int width, const float* x, const float* weight, Out<float> out) {
    decode::rms_norm(here(), width, x, weight, out);
}
__global__ void linear(int columns, const float* weights, const float* x, Out<float> out) {
    decode::linear(here(), columns, weights, x, out);
}
__global__ void linear_add(int columns, const float* weights, const float* x, float* residual) {
    decode::linear_add(here(), columns, weights, x, residual);
}
__global__ void rotate(int head_width, const float* turns, const float* x, Out<float> out) {
    decode::rotate(here(), head_width, turns, x, out);
}
__global__ void score(int heads, int head_width, float scale, const float* query, const float* keys,
                      Out<float> scores) {
    decode::score(here(), heads, head_width, scale, query, keys, scores);
}
__global__ void softmax(int positions, int heads, float* scores) { decode::softmax(here(), positions, heads, scores); }
__global__ void attend(int positions, int heads, int head_width, const float* shares, const float* values,
                       Out<float> out) {
    decode::attend(here(), positions, heads, head_width, shares, values, out);
}
__global__ void swiglu(const float* gate, const float* up, Out<float> out) { decode::swiglu(here(), gate, up, out); }

}  // extern "C"
