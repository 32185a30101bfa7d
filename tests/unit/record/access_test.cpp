#include <graphjit/record/access.hpp>

#include <doctest/doctest.h>

namespace {

namespace gj = graphjit;

float sum(gj::In<float> in, int count) {
    float total = 0;
    for (int i = 0; i < count; ++i) total += in[i];
    return total;
}
void twice(gj::In<float> in, gj::Out<float> out, gj::InOut<float> count) {
    out[0] = 2 * in[0];
    *out = *in * 2;
    count[0] += 1;
    *count += 1;
}
void plain(const float* in, float* out) { *out = *in; }

TEST_CASE("access parameters: used as the pointers they are") {
    const float source[] = {3, 4};
    float target = 0;
    float count = 0;
    twice({source}, {&target}, {&count});
    CHECK(target == 6);
    CHECK(count == 2);
    CHECK(sum({source}, 2) == 7);
    const gj::In<float> in{source};
    const gj::Out<float> out{&target};
    const gj::InOut<float> in_out{&count};
    CHECK(in.data() == source);
    CHECK(out.data() == &target);
    CHECK(in_out.data() == &count);
    plain(in, out);
    CHECK(target == 3);
    CHECK(in + 1 == source + 1);
}

TEST_CASE("Access: an update both reads and writes") {
    CHECK(gj::reads(gj::Access::in));
    CHECK(!gj::writes(gj::Access::in));
    CHECK(!gj::reads(gj::Access::out));
    CHECK(gj::writes(gj::Access::out));
    CHECK(gj::reads(gj::Access::in_out));
    CHECK(gj::writes(gj::Access::in_out));
}

}  // namespace
