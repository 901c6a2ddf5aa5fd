"""Runs the commands of a Markdown page, so that what the documentation says keeps working.

    run.py --dfrost PATH --data FOLDER PAGE.md

Every ```sh block runs in bash, in one temporary folder per page, with dfrost on the path; it must succeed. A ```text
block right after it is what it prints on stdout: numbers and spacing aside, `...` standing for any lines. Commands
that cannot run in a test stand in ```console blocks. Two comments, invisible to readers, prepare the ground:
    <!-- before: COMMAND -->   runs a command; $DATA is the folder of real data, $SOURCE the root of the project
    <!-- needs: FILE -->       what follows needs this file of the real data, and is skipped where it is absent
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "cli"))
from run import SKIPPED, difference  # noqa: E402

PIECES = re.compile(
    r"<!-- (?P<directive>before|needs): (?P<argument>.*?) -->"
    r"|^```sh\n(?P<script>.*?)^```$(?:\n+```text\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL)


def blurred(text):
    """Numbers and spacing differ from run to run and from machine to machine; words do not."""
    text = re.sub(r"[-+]?\d+(?:[.,]\d+)*(?:[eE][-+]?\d+)?", "0", text)
    return [re.sub(r"\s+", " ", line).strip() for line in text.splitlines()]


def run_page(text, folder, environment, data):
    """Returns (blocks run, problems, the absent file that ended the page early or None)."""
    ran, problems = 0, []
    for piece in PIECES.finditer(text):
        if piece["directive"] == "needs":
            if not (data / piece["argument"]).exists():
                return ran, problems, piece["argument"]
            continue
        script = piece["script"] or piece["argument"]
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, env=environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True)
        line = text.count("\n", 0, piece.start()) + 1
        ran += piece["script"] is not None
        found = []
        if done.returncode != 0:
            found = [f"exit code {done.returncode}", done.stdout, done.stderr]
        elif piece["output"] is not None:
            found = difference("stdout", blurred(piece["output"]), "\n".join(blurred(done.stdout)))
        if found:
            problems += [f"line {line}:", script.strip(), *found, ""]
    return ran, problems, None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dfrost", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("page", type=Path)
    arguments = parser.parse_args()
    data = arguments.data.resolve()
    environment = dict(os.environ, DATA=str(data), SOURCE=str(SOURCE), LC_ALL="C.UTF-8",
                       PATH=f"{arguments.dfrost.resolve().parent}:{os.environ['PATH']}")
    with tempfile.TemporaryDirectory(prefix="dfrost-docs-") as folder:
        ran, problems, absent = run_page(arguments.page.read_text(), folder, environment, data)
    print(*problems, sep="\n")
    print(f"{arguments.page.name}: {ran} blocks run")
    if problems:
        return 1
    if absent:
        print(f"SKIPPED: the rest needs the real data in {absent}, absent here")
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
