"""Runs the commands of a Markdown page, so that what the documentation says keeps working.

    run.py --dfrost PATH --data FOLDER PAGE.md

Every ```sh block runs in bash, in one temporary folder per page, with dfrost on the path; it must succeed. A ```text block right after it
is what it prints on stdout. A ```console block is a terminal: each "$ command" runs alike, and the lines after it, if there are any, are what it
prints. Output is compared numbers and spacing aside, `...` standing for any lines. There is no network: packages come from
support/small_world.py. Comments, invisible to readers, prepare the ground:
    <!-- before: COMMAND -->    runs a command; $DATA is the folder of real data, $SOURCE the root of the project
    <!-- needs: FILE -->        what follows needs this file of the real data, and is skipped where it is absent
    <!-- ended by: Ctrl-C -->   of the next block: it goes on until it is interrupted, which is done once it has printed what is shown
    <!-- run by: FILE -->       not here: this file of the project runs the commands of the next block
    <!-- not run: REASON -->    the next block is not run at all; check.py says where that is allowed
"""

import argparse
import itertools
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "tests" / folder) for folder in ("cli", "support", "docs")]
from page import Block, pieces  # noqa: E402
from run import SKIPPED, difference  # noqa: E402
import small_world  # noqa: E402

PATIENCE_SECONDS = 60


def blurred(text, home):
    """Numbers and spacing differ from run to run and from machine to machine; words do not."""
    text = text.replace(home, "~")
    text = re.sub(r"[-+]?\d+(?:[.,]\d+)*(?:[eE][-+]?\d+)?", "0", text)
    return [re.sub(r"\s+", " ", line).strip() for line in text.splitlines()]


def hear_interrupts():
    """Whoever starts the tests in the background of a shell has them ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted_after(process, expected):
    """Waits for the lines that are shown, as a reader would, and presses Ctrl-C; killed where they never come."""
    impatience = threading.Timer(PATIENCE_SECONDS, os.killpg, (process.pid, signal.SIGKILL))
    impatience.start()
    printed = "".join(process.stdout.readline() for _ in itertools.takewhile(lambda line: line != "...", expected))
    impatience.cancel()
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    return printed


class Page:
    """Where the commands of one page run, one after the other."""

    def __init__(self, folder, environment, data):
        self.folder, self.environment, self.data = folder, environment, data

    def problems_of(self, command, expected, merged, endless=False):
        """What is wrong with a command that is expected to print these lines (anything if there are none)."""
        process = subprocess.Popen(["bash", "-euo", "pipefail", "-c", command], cwd=self.folder, env=self.environment, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT if merged else subprocess.PIPE, start_new_session=endless,
                                   preexec_fn=hear_interrupts if endless else None)
        printed = interrupted_after(process, expected) if endless else ""
        rest, errors = process.communicate()
        printed += rest
        if process.returncode != 0:
            return [f"exit code {process.returncode}", printed, errors or ""]
        if not expected:
            return []
        home = self.environment.get("HOME", "~")
        return difference("output", blurred("\n".join(expected), home), "\n".join(blurred(printed, home)))

    def run_block(self, block, shown, endless):
        """`shown`: the ```text block that follows, if one does."""
        found = []
        for command, expected in block.commands():
            if shown:
                expected = shown.text.splitlines()
            if problems := self.problems_of(command, expected, merged=block.language == "console", endless=endless):
                found += [f"line {block.line}:", command.strip(), *problems, ""]
        return found


def output_shown(block, following):
    """The ```text block that stands right after a ```sh block."""
    is_output = block.language == "sh" and isinstance(following, Block) and following.language == "text"
    return following if is_output and following.line - block.end <= 2 else None


def run_page(text, folder, environment, data):
    """Returns (blocks run, problems, the absent file that ended the page early or None)."""
    page, ran, problems, noted = Page(folder, environment, data), 0, [], set()
    parts = pieces(text)
    for part, following in zip(parts, [*parts[1:], None]):
        if not isinstance(part, Block):
            noted.add(part.name)
            if part.name == "needs" and not (data / part.argument).exists():
                return ran, problems, part.argument
            if part.name == "before":
                problems += page.run_block(Block(part.line, "sh", part.argument), None, endless=False)
            continue
        if part.has_commands and not noted & {"not run", "run by"}:
            ran += 1
            problems += page.run_block(part, output_shown(part, following), "ended by" in noted)
        noted.clear()
    return ran, problems, None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dfrost", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("page", type=Path)
    arguments = parser.parse_args()
    data = arguments.data.resolve()
    with tempfile.TemporaryDirectory(prefix="dfrost-docs-") as folder:
        environment = dict(small_world.environment(folder, arguments.dfrost), DATA=str(data), SOURCE=str(SOURCE))
        work = Path(folder, "work")
        work.mkdir()
        ran, problems, absent = run_page(arguments.page.read_text(), work, environment, data)
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
