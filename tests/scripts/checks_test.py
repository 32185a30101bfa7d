"""Shows that each check under scripts/ fails when it should, and says why: checks_test.py 'COMPILER'

A check that never fails looks just like a tree without faults.
"""
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMPILER = ["c++"]


class CheckTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run_script(self, name, *arguments):
        command = [sys.executable, ROOT / "scripts" / name, *arguments]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self.tree)
        self.assertNotIn("Traceback", run.stdout)
        return run

    def passes(self, name, *arguments):
        run = self.run_script(name, *arguments)
        self.assertEqual(run.returncode, 0, run.stdout)
        return run.stdout

    def fails(self, words, name, *arguments):
        run = self.run_script(name, *arguments)
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertRegex(run.stdout, words)
        return run.stdout


class CompileFail(CheckTest):
    GOOD = """// expect: a number, not a name
        template <class T> constexpr bool number = false;
        template <> constexpr bool number<int> = true;
        template <class T> struct Value { static_assert(number<T>, "give a number, not a name"); };
        #ifdef GRAPHJIT_FAIL
        Value<char*> value;
        #else
        Value<int> value;
        #endif
        """

    def check(self, text):
        return "compile_fail.py", self.write("source.cpp", text), "--", *COMPILER, "-std=c++20"

    def test_right_reason(self):
        self.passes(*self.check(self.GOOD))

    def test_wrong_sentence(self):
        self.fails("no error says", *self.check(self.GOOD.replace("expect: a number", "expect: a letter")))

    def test_each_sentence_is_needed(self):
        self.fails("no error says", *self.check("// expect: give a letter\n" + self.GOOD))

    def test_words_outside_an_error_do_not_count(self):
        self.fails("no error says", *self.check("// expect: Value<char\\*> value;\n" + self.GOOD))

    def test_fault_compiles(self):
        self.fails("compiles with GRAPHJIT_FAIL", *self.check(self.GOOD.replace("<char*>", "<int>")))

    def test_twin_does_not_compile(self):
        self.fails("must compile without GRAPHJIT_FAIL", *self.check(self.GOOD.replace("Value<int> value", "Value<int*> value")))

    def test_expects_nothing(self):
        self.fails("no line `// expect", *self.check(self.GOOD.replace("// expect", "// say")))


class Layers(CheckTest):
    def setUp(self):
        super().setUp()
        self.header("base/ids.hpp", "cstdint")
        self.header("record/op.hpp", "graphjit/base/ids.hpp")
        self.header("plan/dag.hpp", "graphjit/record/op.hpp")
        self.header("run/contract.hpp", "graphjit/plan/dag.hpp")
        self.header("run/runner.hpp", "graphjit/run/contract.hpp")
        self.header("backend/null.hpp", "graphjit/run/contract.hpp", "vector")
        self.header("backend/detail/cuda_api.hpp", "cuda.h")
        self.header("backend/cuda.hpp", "graphjit/backend/detail/cuda_api.hpp")
        self.header("observe/dot.hpp", "graphjit/run/runner.hpp", "string")
        self.header("fixed/graph.hpp", "graphjit/backend/null.hpp")
        self.header("graph.hpp", "graphjit/run/runner.hpp", "graphjit/backend/null.hpp", "graphjit/fixed/graph.hpp")

    def header(self, name, *includes, rest=""):
        lines = ["#pragma once", *(f"#include <{name}>" for name in includes)]
        self.write(f"graphjit/{name}", "\n".join(lines) + f"\n{rest}")

    def check(self):
        return "check_layers.py", self.tree / "graphjit"

    def test_good_tree(self):
        self.passes(*self.check())

    def test_upward(self):
        self.header("base/ids.hpp", "graphjit/record/access.hpp")
        self.header("record/access.hpp")
        self.fails("base/ids.hpp: includes record/access.hpp", *self.check())

    def test_upward_by_a_relative_name(self):
        self.header("record/access.hpp")
        self.write("graphjit/base/ids.hpp", '#pragma once\n#include "../record/access.hpp"\n')
        self.fails("base/ids.hpp: includes record/access.hpp", *self.check())

    def test_runner_names_a_backend(self):
        self.header("run/runner.hpp", "graphjit/backend/null.hpp")
        self.fails("run/runner.hpp: includes backend/null.hpp", *self.check())

    def test_backend_knows_a_runner(self):
        self.header("backend/null.hpp", "graphjit/run/runner.hpp")
        self.fails("backend/null.hpp: includes run/runner.hpp", *self.check())

    def test_run_observes(self):
        self.header("run/runner.hpp", "graphjit/observe/dot.hpp")
        self.fails("run/runner.hpp: includes observe/dot.hpp", *self.check())

    def test_vendor_header_outside_its_home(self):
        self.header("backend/cuda.hpp", "cuda.h")
        self.fails("backend/cuda.hpp: includes <cuda.h>, a vendor's header", *self.check())

    def test_vendor_header_in_the_umbrella(self):
        self.header("graph.hpp", "graphjit/backend/cuda.hpp")
        self.fails("graph.hpp: brings in <cuda.h>", *self.check())

    def test_heavy_header(self):
        self.header("plan/dag.hpp", "vector")
        self.fails("plan/dag.hpp: includes <vector>", *self.check())

    def test_cycle(self):
        self.header("plan/a.hpp", "graphjit/plan/b.hpp")
        self.header("plan/b.hpp", "graphjit/plan/a.hpp")
        self.fails("include cycle: plan/a.hpp -> plan/b.hpp -> plan/a.hpp", *self.check())

    def test_missing_header(self):
        self.header("plan/dag.hpp", "graphjit/record/opp.hpp")
        self.fails("record/opp.hpp, which does not exist", *self.check())

    def test_no_room(self):
        self.header("util/misc.hpp")
        self.fails("util/misc.hpp: in no room", *self.check())

    def test_long_header(self):
        self.header("plan/dag.hpp", rest="\n" * 400)
        self.fails("plan/dag.hpp: 40. lines", *self.check())

    def test_empty_tree(self):
        shutil.rmtree(self.tree / "graphjit")
        self.fails("no headers", *self.check())


class IncludeCost(CheckTest):
    def check(self, lines, *options):
        self.write("graphjit/base/ids.hpp", "int a();\n\n" * lines)
        return "include_cost.py", "--compiler", shlex.join(COMPILER), *options, self.tree / "graphjit"

    def test_counts_lines_that_are_not_empty(self):
        counted = json.loads(self.passes(*self.check(20000, "--json")))
        self.assertEqual(counted, {"base/ids.hpp": {"lines": 20000, "budget": 20000}})

    def test_over_budget(self):
        self.fails("base/ids.hpp +20001 of 20000  OVER BUDGET", *self.check(20001))


class Version(CheckTest):
    def check(self, header="0.12.3", changelog="## 0.12.3\n\n## 0.11.0\n"):
        parts = zip(("MAJOR", "MINOR", "PATCH"), header.split("."))
        text = "".join(f"#define GRAPHJIT_VERSION_{part} {number}\n" for part, number in parts)
        self.write("include/graphjit/base/version.hpp", text)
        self.write("CHANGELOG.md", f"# Changes\n\n{changelog}")
        return "version.py", "--check", self.tree

    def test_agree(self):
        self.assertEqual(self.passes(*self.check()), "0.12.3\n")
        self.passes(*self.check(changelog="## [0.12.3] - 2026-01-31\n"))

    def test_differ(self):
        self.fails("newest entry is `0.12.30`", *self.check(changelog="## 0.12.30\n\n## 0.12.3\n"))

    def test_no_entry(self):
        self.fails("no entry", *self.check(changelog=""))

    def test_incomplete_header(self):
        self.fails("no line `#define GRAPHJIT_VERSION_PATCH", *self.check(header="0.12"))

    def test_no_header(self):
        self.fails("version.hpp is missing", "version.py", self.tree)


class Readme(CheckTest):
    README = "# graphjit\n\n```sh\nmake\n```\n\n```cpp\nint main() {}\n```\n\nIt prints\n\n```text\nhello\n```\n"

    def check(self, readme=README, program="int main() {}\n", output="hello\n"):
        self.write("README.md", readme)
        self.write("examples/01_record_replay.cpp", program)
        self.write("examples/expected/01_record_replay.txt", output)
        return "check_readme.py", self.tree

    def test_agree(self):
        self.passes(*self.check())

    def test_program_differs(self):
        self.fails(r"\+int main\(\) { }", *self.check(program="int main() { }\n"))

    def test_output_differs(self):
        self.fails(r"\+hallo", *self.check(output="hallo\n"))

    def test_no_output(self):
        self.fails("no ```text block", *self.check(readme=self.README.replace("text", "console")))

    def test_no_readme(self):
        self.fails("README.md is missing", "check_readme.py", self.tree)


class Hygiene(CheckTest):
    def check(self, text):
        self.write("notes.txt", text)
        return "check_hygiene.py", self.tree

    def test_clean(self):
        self.passes(*self.check("See /usr/share/doc and docs/work/plan.md\n"))

    def test_path(self):
        self.fails("notes.txt:1: a path of one machine", *self.check("cd /wo" "rk/main\n"))

    def test_unfinished(self):
        self.fails("notes.txt:2: a note of unfinished work", *self.check("\n// TO" "DO later\n"))


class Example(CheckTest):
    def check(self, script, expected="hello\n"):
        program = self.write("program", f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return "run_example.py", program, self.write("expected.txt", expected)

    def test_same(self):
        self.passes(*self.check("echo hello"))

    def test_other_output(self):
        self.fails(r"\+hallo", *self.check("echo hallo"))

    def test_failing_program(self):
        self.fails("ended with 3", *self.check("echo hello; exit 3"))


class Report(CheckTest):
    """What scripts/test.sh says of Meson's logs."""

    CASES = "[doctest] test cases:  4 |  {} passed | {} failed | 1 skipped\n"

    def log(self, variant, *tests):
        lines = []
        for name, suite, result, stdout in tests:
            status = 0 if result == "OK" else 1
            name = f"graphjit:{suite} / {name}"
            entry = {"name": name, "result": result, "returncode": status, "stdout": stdout}
            lines.append(json.dumps(entry) + "\n")
        self.write(f"build/{variant}/meson-logs/testlog.json", "".join(lines))

    def last_line(self, text):
        return text.splitlines()[-1]

    def test_adds_up(self):
        self.log("a", ("unit", "doctest", "OK", self.CASES.format(3, 0)), ("layers", "checks", "OK", ""))
        self.log("b", ("unit", "doctest", "OK", self.CASES.format(3, 0)), ("x", "checks", "SKIP", ""))
        text = self.passes("report.py", self.tree / "build", "a", "b")
        self.assertEqual(self.last_line(text), "7 passed, 0 failed")

    def test_failures(self):
        self.log("a", ("unit", "doctest", "FAIL", "why\n" + self.CASES.format(1, 2)), ("layers", "checks", "FAIL", "where"))
        text = self.fails("why", "report.py", self.tree / "build", "a")
        self.assertIn("where", text)
        self.assertEqual(self.last_line(text), "1 passed, 3 failed")

    def test_crash_after_the_summary(self):
        self.log("a", ("unit", "doctest", "FAIL", self.CASES.format(3, 0)))
        text = self.fails("1 failed", "report.py", self.tree / "build", "a")
        self.assertEqual(self.last_line(text), "3 passed, 1 failed")

    def test_crash_before_the_summary(self):
        self.log("a", ("layers", "checks", "OK", ""), ("unit", "doctest", "FAIL", "Segmentation fault"))
        text = self.fails("Segmentation fault", "report.py", self.tree / "build", "a")
        self.assertEqual(self.last_line(text), "1 passed, 1 failed")

    def test_program_without_doctest(self):
        self.log("a", ("layers", "checks", "OK", ""), ("unit", "doctest", "OK", ""))
        self.fails("1 passed, 1 failed", "report.py", self.tree / "build", "a")

    def test_variant_without_results(self):
        self.log("a", ("layers", "checks", "OK", ""))
        self.write("build/b.log", "no such compiler\n")
        text = self.fails("no such compiler", "report.py", self.tree / "build", "a", "b")
        self.assertEqual(self.last_line(text), "1 passed, 1 failed")

    def test_everything_was_skipped(self):
        self.log("a", ("x", "fuzz", "SKIP", ""))
        self.fails("0 passed, 1 failed", "report.py", self.tree / "build", "a")

    def test_no_case_ran(self):
        self.log("a", ("unit", "doctest", "OK", self.CASES.format(0, 0)))
        self.fails("0 passed, 0 failed", "report.py", self.tree / "build", "a")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        COMPILER = shlex.split(sys.argv.pop(1))
    unittest.main()
