// Everything but the vendor backends and the tools for tests (plan/verify.hpp, run/adversarial_runner.hpp).
#pragma once

#include <graphjit/backend/cpu.hpp>
#include <graphjit/backend/null.hpp>
#include <graphjit/plan/explain.hpp>
#include <graphjit/record/recorder.hpp>
#include <graphjit/run/eager_runner.hpp>
#include <graphjit/run/multi_graph_runner.hpp>
