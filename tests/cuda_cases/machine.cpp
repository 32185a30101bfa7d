// Eight simulated devices, before anything asks for them.
#include "vendor/cuda/control.hpp"

namespace {

const struct Machine {
    Machine() { test::cuda::reset({.devices = 8}); }
} machine;

}  // namespace
