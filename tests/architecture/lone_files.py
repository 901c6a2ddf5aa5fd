"""Every file of src/ and include/ compiles alone, and so includes what it needs:  lone_files.py BUILD [--all | FILE...]

The presets that compile several files as one would not notice. The compiler only reads each file, with the flags that
BUILD/compile_commands.json has for the library of its folder. Not read again: files that the build itself compiles
alone, and headers that a .cc includes before anything else, mostly its own, since they are read first there. Nor, without
--all, those for which nothing changed in the last day's work: what compiled alone still does where neither it nor the
header that it reads first changed, and no header that it reaches lost a line. What changed most is read first; after
DFROST_ALONE_SECONDS (25) nothing else is begun, and what is left is named: named_things.py has looked at it as text.
"""

import collections
import concurrent.futures
import functools
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from days_work import base_of_the_day, lines_changed  # noqa: E402
# What makes an object or a binary, not a program that is well formed. Warnings are the business of the build.
DROPPED = re.compile(r"-O\w*|-g\w*|-W.*|-fsanitize.*|-fno-sanitize.*|-fPIC|-fPIE")
DROPPED_WITH_VALUE = {"-o", "-c", "-include", "-x"}
# Half the time went into reading these again and again: read once for each folder where several files include them.
HEAVY = ("CLI/CLI.hpp", "nlohmann/json.hpp", "filesystem")
SEVERAL = 4
SECONDS = float(os.environ.get("DFROST_ALONE_SECONDS", "25"))


def essential(command):
    """The compiler and its flags, without input, output, optimisation, warnings and precompiled headers."""
    words = iter(shlex.split(command))
    kept = []
    for word in words:
        if word in DROPPED_WITH_VALUE:
            next(words)
        elif not DROPPED.fullmatch(word):
            kept.append(word)
    return (*kept, "-w")


def flags_by_folder(build):
    """(folder of src/ -> the flags of its library, the files that the build compiles alone)."""
    flags, alone = {}, set()
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if match := re.search(r"\bsrc/((?:\w+/)*(\w+))/CMakeFiles/dfrost_\2\.dir/", entry["command"]):
            flags[match[1]] = essential(entry["command"])
            if " -include " not in entry["command"]:
                alone.add(Path(entry["file"]))
    return flags, alone


def includes(path):
    return re.findall(r'^#include ["<]([^">]+)[">]', path.read_text(), re.M)


def ours(include):
    """Where in the tree an include lies; none for those of others."""
    return next((ROOT / top / include for top in ("src", "include") if (ROOT / top / include).is_file()), None)


@functools.cache
def reached(include):
    """The include and all that it includes, as far as it is ours."""
    path = ours(include)
    return {include}.union(*(reached(inner) for inner in includes(path))) if path else {include}


def heavy_headers(path, first_header):
    """Those that may be read beforehand without hiding that one is missing: a .cc file reaches them through the header
    that it reads first, which would else seem to have them of itself; where there is none, through any, since each of
    them is read alone somewhere."""
    starts = [first_header] if first_header else includes(path) if path.suffix == ".cc" else []
    everything = set().union(*(reached(start) for start in starts))
    return tuple(header for header in HEAVY if header in everything)


def every_file():
    tops = ("src", "include")
    return sorted(path for top in tops for path in (ROOT / top).rglob("*") if path.suffix in (".cc", ".h"))


def first_headers():
    """.cc file -> the header of ours that it reads before anything else."""
    sources = [path for path in every_file() if path.suffix == ".cc"]
    return {path: first for path in sources if (first := next(iter(includes(path)), None)) and ours(first)}


def files_to_read(compiled_alone):
    """path -> its heavy headers."""
    firsts = first_headers()
    read_first = {ours(include) for include in firsts.values()}
    chosen = [path for path in every_file() if path not in compiled_alone | read_first]
    return {path: heavy_headers(path, firsts.get(path)) for path in chosen}


def touched(paths, changed):
    """Those that may compile alone no longer; changed: path -> (lines added, lines removed)."""
    changed = {ROOT / path: lines for path, lines in changed.items()}
    poorer = {path for path, (_, removed) in changed.items() if removed}
    firsts = first_headers()

    def is_touched(path):
        first = ours(firsts[path]) if path in firsts else None
        headers = {ours(header) for include in includes(path) for header in reached(include)}
        return path in changed or first in changed or not headers.isdisjoint(poorer)

    return [path for path in paths if is_touched(path)]


def changed_today():
    """None where there is no history to ask, as in an unpacked archive."""
    try:
        return lines_changed(base_of_the_day(), "src", "include")
    except (OSError, subprocess.CalledProcessError):
        return None


def read_beforehand(folder, number, flags, headers):
    """The flag that puts a precompiled header in front of a file."""
    header = Path(folder, f"heavy_{number}.h")
    header.write_text("".join(f"#include <{name}>\n" for name in headers))
    subprocess.run([*flags, "-x", "c++-header", header, "-o", f"{header}.gch"], check=True)
    return "-include", str(header)


def read_alone(path, flags, deadline):
    """(path, seconds, what the compiler had to say); no seconds where there was no time to begin."""
    started = time.monotonic()
    if started > deadline:
        return path, None, ""
    run = subprocess.run([*flags, "-fsyntax-only", "-x", "c++", str(path)], capture_output=True, text=True)
    return path, time.monotonic() - started, run.stderr if run.returncode else ""


def read_all(build, only):
    flags, compiled_alone = flags_by_folder(build)
    files = files_to_read(compiled_alone)
    changed = changed_today() if only is None else None
    if only:
        files = {path: files.get(path, ()) for path in map(Path.resolve, map(Path, only))}
    elif changed is not None:
        lines = {ROOT / path: sum(counts) for path, counts in changed.items()}
        files = {path: files[path] for path in sorted(touched(files, changed), key=lambda path: -lines.get(path, 0))}
    limited = only is None
    deadline = time.monotonic() + (SECONDS if limited else float("inf"))

    def folder_of(path):
        return path.parent.relative_to(ROOT / "src").as_posix() if path.is_relative_to(ROOT / "src") else "base"

    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        # In a minute too few files are read for it to pay.
        groups = collections.Counter((folder_of(path), heavy) for path, heavy in files.items() if heavy and not limited)
        beforehand = {group: pool.submit(read_beforehand, folder, number, flags[group[0]], group[1])
                      for number, (group, count) in enumerate(groups.items()) if count >= SEVERAL}
        beforehand = {group: made.result() for group, made in beforehand.items()}
        return list(pool.map(
            lambda path: read_alone(path, (*flags[folder_of(path)], *beforehand.get((folder_of(path), files[path]), ())), deadline),
            files))


def main(build, only):
    """only: these files; all where it is empty, those touched today where it is none."""
    started = time.monotonic()
    results = read_all(Path(build), only)
    failed = [result for result in results if result[2]]
    left = [path for path, seconds, _ in results if seconds is None]
    read = len(results) - len(left)
    for path, _, said in failed:
        print(f"{path.relative_to(ROOT)} does not compile alone:\n{said}")
    if left:
        print(f"{SECONDS:.0f} s were over (DFROST_ALONE_SECONDS), NOT READ:", *(path.relative_to(ROOT) for path in left), sep="\n  ")
    print(f"{read} of {len(results)} files read, {len(failed)} of which do not compile alone, in {time.monotonic() - started:.0f} s")
    if not only:
        print(f"{len(every_file()) - len(results)} others are compiled alone by the build, read first by a .cc"
              f"{'' if only is not None else ', or as they were'}")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    words = sys.argv[2:]
    sys.exit(main(sys.argv[1], None if not words else [] if words == ["--all"] else words))
