"""Builds and runs a two-line program against graphjit as its users would: consumer.py KIND ROOT VERSION

KIND is subproject (Meson), pkg_config or cmake; the last two use an installed tree that was moved after its install.
"""
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COMPILER = shlex.split(os.environ.get("CXX", "c++"))


def run(*command, **environment):
    print("$", *command, flush=True)
    subprocess.run(command, check=True, env={**os.environ, **environment})


def copy(name, to, **values):
    text = (HERE / name).read_text()
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    (to / name.removesuffix(".in")).write_text(text)


def install(root, work):
    run("meson", "setup", work / "build", root, "--prefix", work / "installed",
        "-Dtests=disabled", "-Dexamples=disabled", "-Dbenchmarks=disabled")
    run("meson", "install", "-C", work / "build", "--quiet")
    return (work / "installed").rename(work / "moved")


def subproject(root, work, version):
    copy("meson.build.in", work)
    (work / "subprojects").mkdir()
    (work / "subprojects" / "graphjit").symlink_to(root)
    # A packager's choice that turns on every optional part of a project must not turn on ours.
    run("meson", "setup", work / "out", work, "-Dauto_features=enabled")
    run("meson", "compile", "-C", work / "out")
    run(work / "out" / "consumer")


def pkg_config(root, work, version):
    search = {"PKG_CONFIG_PATH": str(install(root, work) / "share" / "pkgconfig")}
    run("pkg-config", "--exact-version", version, "graphjit", **search)
    ask = ["pkg-config", "--cflags", "--libs", "graphjit"]
    flags = subprocess.run(ask, check=True, capture_output=True, text=True, env={**os.environ, **search}).stdout.split()
    run(*COMPILER, "-std=c++20", "-Werror", work / "main.cpp", "-o", work / "consumer", *flags)
    run(work / "consumer")


def cmake(root, work, version):
    prefix = install(root, work)
    copy("CMakeLists.txt.in", work, version=version)
    run("cmake", "-S", work, "-B", work / "out", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", work / "out")
    run(work / "out" / "consumer")


def main():
    kind, root, version = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder).resolve()
        copy("main.cpp", work)
        {"subproject": subproject, "pkg_config": pkg_config, "cmake": cmake}[kind](pathlib.Path(root), work, version)


if __name__ == "__main__":
    main()
