#!/usr/bin/env python3
"""Shows that a fault does not compile, and that the compiler says why: compile_fail.py SOURCE -- COMPILER ARGUMENT...

SOURCE holds one fault inside `#ifdef GRAPHJIT_FAIL`, and one or more lines `// expect: REGEX`. It must compile without
that macro (else it would prove only that something is wrong), must not compile with it, and each REGEX must be found in
a line in which the compiler reports an error.
"""
import os
import pathlib
import re
import subprocess
import sys

# The text of a report, not the source lines that the compiler quotes below it: those are indented.
ERROR = re.compile(r"^\S.*?: (?:fatal )?error: (.*)$", re.M)


def compile_source(compiler, source, *extra):
    # Compilers speak the user's language, the expected words are English.
    environment = {**os.environ, "LC_ALL": "C"}
    command = [*compiler, "-fsyntax-only", *extra, source]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def fault(source, compiler):
    expected = re.findall(r"^// expect: (.+?)\s*$", pathlib.Path(source).read_text(), re.M)
    if not expected:
        return "has no line `// expect: REGEX`"
    good = compile_source(compiler, source)
    if good.returncode != 0:
        return f"must compile without GRAPHJIT_FAIL, but:\n{good.stderr}"
    bad = compile_source(compiler, source, "-DGRAPHJIT_FAIL")
    if bad.returncode == 0:
        return "compiles with GRAPHJIT_FAIL, so nothing guards against this fault"
    errors = ERROR.findall(bad.stderr)
    missing = [regex for regex in expected if not any(re.search(regex, error) for error in errors)]
    if missing:
        return f"does not compile with GRAPHJIT_FAIL, but no error says {missing}:\n{bad.stderr}"
    return None


def main():
    if len(sys.argv) < 4 or sys.argv[2] != "--":
        sys.exit(__doc__)
    message = fault(sys.argv[1], sys.argv[3:])
    if message:
        sys.exit(f"{sys.argv[1]}: {message}")


if __name__ == "__main__":
    main()
