"""Runs command-line tests written as text; README.md beside this file says what they look like.

    run.py --dfrost PATH --data FOLDER FILE.test
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

SKIPPED = 77
SOURCE = Path(__file__).resolve().parents[2]
WILDCARDS = {"<number>": r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", "<any>": r"[^\n]*"}


@dataclass
class Step:
    line: int
    command: str
    stdout: list = field(default_factory=list)
    stderr: list = field(default_factory=list)
    exit_code: int = 0


def parse(text):
    """The steps of a test file, and the files below the data folder that it needs."""
    steps, needs, lines = [], [], None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("# "):
            continue
        if line.startswith("$ "):
            steps.append(Step(number, line[2:]))
            lines = steps[-1].stdout
        elif not steps:
            if line.startswith("needs: "):
                needs.append(line[len("needs: "):].strip())
            elif line.strip():
                raise SystemExit(f"line {number}: expected '# …', 'needs: …' or '$ …', found: {line}")
        elif line.startswith("> ") and not steps[-1].stdout and lines is steps[-1].stdout:
            steps[-1].command += "\n" + line[2:]
        elif line == "stderr:":
            lines = steps[-1].stderr
        elif match := re.fullmatch(r"exit: (\d+)", line):
            steps[-1].exit_code = int(match[1])
        else:
            lines.append(line)
    if not steps:
        raise SystemExit("no '$ command' in this file")
    return steps, needs


def pattern(lines):
    """The regular expression that expected lines stand for."""
    parts = []
    for line in lines:
        if line == "...":
            parts.append(r"(?:[^\n]*\n)*?")
            continue
        words = re.split("|".join(map(re.escape, WILDCARDS)).join("()"), line)
        parts.append("".join(WILDCARDS.get(word, re.escape(word)) for word in words) + r"\n")
    return "".join(parts)


def without_blank_end(lines):
    lines = [line.rstrip() for line in lines]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def difference(name, expected, actual):
    """What to print when output is not as expected; nothing when it is."""
    expected, actual = without_blank_end(expected), without_blank_end(actual.splitlines())
    if re.fullmatch(pattern(expected), "".join(line + "\n" for line in actual)):
        return []
    return list(difflib.unified_diff(expected, actual, f"expected {name}", f"actual {name}", lineterm=""))


def run_step(step, folder, environment):
    done = subprocess.run(["bash", "-c", step.command], cwd=folder, env=environment, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True)
    problems = difference("stdout", step.stdout, done.stdout) + difference("stderr", step.stderr, done.stderr)
    if done.returncode != step.exit_code:
        problems.append(f"expected exit code {step.exit_code}, got {done.returncode}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dfrost", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True, help="the real data beside a developer's checkout")
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    steps, needs = parse(arguments.file.read_text())
    for name in needs:
        if not (arguments.data / name).exists():
            print(f"SKIPPED: needs the real data in {name}, absent here")
            return SKIPPED
    environment = dict(os.environ, DATA=str(arguments.data.resolve()), SOURCE=str(SOURCE), LC_ALL="C.UTF-8",
                       PATH=f"{arguments.dfrost.resolve().parent}:{os.environ['PATH']}")
    failures = 0
    with tempfile.TemporaryDirectory(prefix="dfrost-cli-") as folder:
        for step in steps:
            if problems := run_step(step, folder, environment):
                failures += 1
                print(f"{arguments.file.name}:{step.line}: $ {step.command}", *problems, "", sep="\n")
    print(f"{len(steps) - failures} of {len(steps)} commands behave as written")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
