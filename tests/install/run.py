"""Installs a build into a temporary folder and uses it from there, as a stranger would.

    run.py BUILD

The commands are those of the page for strangers, run in a home of their own that has the build and the examples where the page has them; the C++ that
the page shows must be that of the examples. Then what no page says: every installed header compiles alone, each component looks for
its own packages and no more, and what was installed can be moved.
"""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "tests" / folder) for folder in ("docs", "support")]
from page import Block, pieces  # noqa: E402
import small_world  # noqa: E402

PAGE = "docs/how-to/use-as-a-library.md"
# What only the engine and runs need. Who takes optimal transport alone need not have it.
NOT_FOR_OT = ("dnnl", "OpenMP", "PNG", "JPEG", "ZLIB", "nlohmann_json", "Eigen3")


def run(*command, **how):
    done = subprocess.run([str(word) for word in command], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **how)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def require(text, *words):
    missing = [word for word in words if word not in text]
    if missing:
        sys.exit(f"not there: {missing}\nin: {text}")


def run_the_page(home, environment):
    """Its commands, and what the ```text blocks say that they print; its C++ against the examples."""
    examples = "".join(path.read_text() for path in sorted((SOURCE / "examples").rglob("*.*")))
    printed = ""
    for block in (piece for piece in pieces((SOURCE / PAGE).read_text()) if isinstance(piece, Block)):
        if block.language == "sh":
            printed = run("bash", "-euo", "pipefail", "-c", block.text, cwd=home, env=environment)
        elif block.language == "text":
            require(printed, *(line for line in block.text.splitlines() if line and "..." not in line))
        elif block.text not in examples:
            sys.exit(f"{PAGE}, line {block.line}: this is in no file of examples/")


def compile_headers(include, folder):
    """Each alone, as a stranger's first include."""
    def compile_one(header):
        file = folder / f"{header.stem}.cc"
        file.write_text(f'#include "dfrost/{header.name}"\n#include "dfrost/{header.name}"\n')
        run("c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", include, file)

    headers = sorted((include / "dfrost").glob("*.h"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, headers))
    return [header.name for header in headers]


def configure_ot_alone(prefix, folder):
    """On a machine, as it were, that has nothing of what only the others need."""
    folder.mkdir()
    (folder / "main.cc").write_text((SOURCE / "examples/ot/main.cc").read_text())
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(ot_alone LANGUAGES CXX)\n"
        "find_package(dfrost REQUIRED COMPONENTS ot)\nadd_executable(ot_alone main.cc)\n"
        "target_link_libraries(ot_alone PRIVATE dfrost::ot)\n"
        "if(TARGET dfrost::engine OR TARGET dfrost::run)\n  message(FATAL_ERROR \"more than was asked for\")\nendif()\n"
        "find_package(dfrost QUIET COMPONENTS teleport)\nif(dfrost_FOUND)\n  message(FATAL_ERROR \"found teleport\")\nendif()\n")
    absent = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in NOT_FOR_OT]
    run("cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}", *absent)
    link = run("ninja", "-C", folder / "build", "-t", "commands")
    for library in ("dnnl", "png", "jpeg", "toml"):
        if f"lib{library}" in link:
            sys.exit(f"dfrost::ot links {library}:\n{link}")


def main():
    build = Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="dfrost-install-") as folder:
        home = Path(folder, "home")
        (home / "build").mkdir(parents=True)
        (home / "build/release").symlink_to(build.resolve())
        (home / "examples").symlink_to(SOURCE / "examples")
        prefix = home / "dfrost"
        environment = dict(small_world.environment(folder, prefix / "bin/dfrost"), CMAKE_GENERATOR="Ninja")
        run(sys.executable, SOURCE / "tests/support/small_world.py", "pictures", "cat", "dog", cwd=home)
        run_the_page(home, environment)
        print("headers that compile alone:", *compile_headers(prefix / "include", Path(folder)))
        configure_ot_alone(prefix, Path(folder, "alone"))

        moved = prefix.rename(Path(folder, "moved"))
        picture = home / "pictures/cat/0.png"
        print(run(moved / "bin/dfrost", "classify", "--backbone", "frost-mini", picture, env=environment))


if __name__ == "__main__":
    main()
