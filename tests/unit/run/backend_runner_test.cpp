#include <graphjit/run/backend_runner.hpp>

#include <graphjit/run/eager_runner.hpp>

#include "support/kernels.hpp"
#include "support/recording_backend.hpp"
#include "support/ways.hpp"

namespace {

using namespace test;

TEST_CASE("runners: have their backend, its limits and its reach") {
    DeviceLog log;
    log.reachable = 1u << 5;
    RecordingRecorder rec(RecordingBackend{&log});
    (void)rec.launch(inc<>, nullptr);
    RecordingRunner runner = gj::instantiate(std::move(rec)).value();
    CHECK(runner.backend().log == &log);
    CHECK(runner.limits().groups.x == 1'000);
    CHECK(runner.limits().group_items == 128);
    CHECK(runner.reaches(gj::DeviceId{0}, gj::DeviceId{5}));
    CHECK(!runner.reaches(gj::DeviceId{5}, gj::DeviceId{0}));
}

TEST_CASE("runners: without a word from the backend no device reaches another's memory") {
    CpuRecorder rec;
    (void)rec.launch(inc<>, nullptr);
    const CpuList list = std::move(rec).finish().value();
    CHECK(!gj::instantiate(list).value().reaches(gj::DeviceId{0}, gj::DeviceId{1}));
    CHECK(!gj::EagerRunner<gj::CpuBackend>::create(list).value().reaches(gj::DeviceId{0}, gj::DeviceId{1}));
}

}  // namespace
