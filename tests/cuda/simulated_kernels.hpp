// The kernels of kernels.cu for the simulated driver.
#pragma once

#include "vendor/cuda/control.hpp"

namespace test {

void register_simulated_kernels();

}  // namespace test
