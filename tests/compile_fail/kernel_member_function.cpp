// expect: graphjit: kernel<F> takes a function or a captureless lambda
#include <graphjit/record/host_kernel.hpp>

struct Filter {
#ifdef GRAPHJIT_FAIL
    void run(float*) {}
#else
    static void run(float*) {}
#endif
};

auto filtered = graphjit::kernel<&Filter::run>;
