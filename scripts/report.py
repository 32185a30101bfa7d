#!/usr/bin/env python3
"""Adds up what the variants of scripts/test.sh found: report.py BUILD VARIANT...

Prints the log of each test that failed, a line for each variant, and `N passed, N failed` as the last line. A test
program made with doctest counts as its test cases, every other test as one. Exits with 1 when something failed or when
nothing ran.
"""
import json
import pathlib
import re
import sys

SUMMARY = re.compile(r"^\[doctest\] test cases:\s*\d+\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed", re.M)
LOG_LINES = 300


def is_doctest(test):
    # Meson's log tells the suites only as part of the name: `project:suite+suite / name`.
    return "doctest" in re.split("[:+]", test["name"].split(" / ")[0])


def count(test):
    """(passed, failed) of one entry of Meson's log."""
    good = test["result"] in ("OK", "EXPECTEDFAIL")
    if not is_doctest(test):
        return (0, 0) if test["result"] == "SKIP" else (int(good), int(not good))
    summary = SUMMARY.findall(test.get("stdout", ""))
    if not summary:
        return 0, 1  # it died before doctest could say anything, or did not run its tests at all
    passed, failed = map(int, summary[-1])
    # A crash, a leak or a time-out fails the program though each case that ended may have passed.
    return passed, failed if good else max(failed, 1)


def tail(text):
    lines = text.splitlines()
    cut = [f"[{len(lines) - LOG_LINES} lines before]"] if len(lines) > LOG_LINES else []
    return "\n".join(cut + lines[-LOG_LINES:])


def read_variant(build, name):
    """Returns (passed, failed, skipped names) and prints the log of each failure."""
    results = build / name / "meson-logs" / "testlog.json"
    tests = [json.loads(line) for line in results.read_text().splitlines()] if results.is_file() else []
    if all(test["result"] == "SKIP" for test in tests):
        log = build / f"{name}.log"
        print(f"\n=== {name}: could not be built, or ran no test ===")
        print(tail(log.read_text(errors="replace")) if log.is_file() else "(no log)")
        return 0, 1, [test["name"] for test in tests]
    passed = failed = 0
    for test in tests:
        good, bad = count(test)
        passed, failed = passed + good, failed + bad
        if bad:
            print(f"\n=== {name}: {test['name']} {test['result']}, exit status {test['returncode']} ===")
            print(tail(test.get("stdout", "") + test.get("stderr", "")))
    return passed, failed, [test["name"] for test in tests if test["result"] == "SKIP"]


def main():
    build, names = pathlib.Path(sys.argv[1]), sys.argv[2:]
    rows = [(name, *read_variant(build, name)) for name in names]
    print()
    for name, passed, failed, skipped in rows:
        print(f"{name:24} {passed:6} passed {failed:6} failed" + (f"; skipped: {', '.join(skipped)}" if skipped else ""))
    passed, failed = sum(row[1] for row in rows), sum(row[2] for row in rows)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0 or passed == 0)


if __name__ == "__main__":
    main()
