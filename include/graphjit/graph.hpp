// Everything but the vendor backends, and what brings threads: backend/threads.hpp and run/adversarial_runner.hpp.
#pragma once

#include <graphjit/backend/cpu.hpp>
#include <graphjit/backend/null.hpp>
#include <graphjit/observe/dot.hpp>
#include <graphjit/observe/queues.hpp>
#include <graphjit/observe/trace.hpp>
#include <graphjit/plan/explain.hpp>
#include <graphjit/plan/verify.hpp>
#include <graphjit/record/recorder.hpp>
#include <graphjit/run/eager_runner.hpp>
#include <graphjit/run/multi_graph_runner.hpp>
