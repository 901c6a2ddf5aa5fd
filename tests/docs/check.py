"""Is every command that the documentation shows run by a test?

    check.py --dfrost PATH

Blocks of commands are ```sh or ```console, which run.py runs on every page of docs/ and on the README. Exceptions say so before the block: "run by" a
file that holds the same commands, or that takes them from the page; "not run", with the reason, on pages for those who work on dfrost and nowhere else. Commands within a
sentence are not run, but dfrost must know their words and options.
"""

import argparse
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).parent))
from page import Block, pieces  # noqa: E402

NOT_COMMANDS = {"text", "toml", "cmake", "cpp", "json", "python"}
DIRECTIVES = {"before", "needs", "ended by", "run by", "not run"}
FOR_USERS = ("README.md", "docs/tutorials/", "docs/how-to/")
RUN = ("README.md", "docs/")
NOT_OURS = {"build", "runs", "node_modules"}


def all_pages():
    found = (path.relative_to(SOURCE) for path in sorted(SOURCE.rglob("*.md")))
    return [path for path in found if not NOT_OURS & set(path.parts)]


def without_comment(command):
    return re.sub(r"\s+# .*", "", command).strip()


def run_elsewhere(block, file, page, source):
    text = (source / file).read_text() if (source / file).is_file() else ""
    if f'"{page}"' in text:
        return
    for command, _ in block.commands():
        if without_comment(command) not in text:
            yield f"{block.line}: {file} does not run '{without_comment(command)}'"


def unrun_blocks(page, text, source=SOURCE):
    """What is wrong with the blocks of a page, as "line: problem"."""
    noted = {}
    for piece in pieces(text):
        if not isinstance(piece, Block):
            if piece.name not in DIRECTIVES:
                yield f"{piece.line}: nobody knows what '{piece.name}' asks for"
            noted[piece.name] = piece.argument
            continue
        if piece.has_commands:
            if not piece.commands():
                yield f"{piece.line}: a terminal without a '$ command'"
            if "run by" in noted:
                yield from run_elsewhere(piece, noted["run by"], page, source)
            elif "not run" in noted and page.startswith(FOR_USERS):
                yield f"{piece.line}: on this page everything must be run"
            elif "not run" not in noted and not page.startswith(RUN):
                yield f"{piece.line}: nothing runs the commands of this page"
        elif piece.language not in NOT_COMMANDS:
            yield f"{piece.line}: '{piece.language}' is not run; commands go into sh or console, other text into {', '.join(sorted(NOT_COMMANDS))}"
        noted = {}


def commands_in_sentences(text):
    """(line, command) of every `dfrost …` in the prose of a page."""
    inside = {number for piece in pieces(text) if isinstance(piece, Block) for number in range(piece.line, piece.end + 1)}
    prose = "\n".join("" if number in inside else line for number, line in enumerate(text.splitlines(), 1))
    for match in re.finditer(r"`(dfrost(?: [^`]+)?)`", prose):
        yield prose.count("\n", 0, match.start()) + 1, " ".join(match[1].split())


def unknown_words(command, help_of):
    """The part of a command that dfrost's own help does not know, or nothing."""
    words, path = command.split()[1:], ()
    while words and re.fullmatch(r"[a-z][a-z-]*", words[0]) and re.search(rf"^  {words[0]}\b", help_of(path), re.MULTILINE):
        path += (words.pop(0),)
    if not path and words and not words[0].startswith("-"):
        return words[0]
    for word in words:
        if word.startswith("--") and not re.search(rf"(?<![\w-]){re.escape(word.split('=')[0])}(?![\w-])", help_of(path)):
            return word
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dfrost", required=True)
    dfrost = parser.parse_args().dfrost

    @cache
    def help_of(path):
        return subprocess.run([dfrost, *path, "--help"], check=True, text=True, stdout=subprocess.PIPE).stdout

    problems, checked = [], 0
    for path in all_pages():
        page, text = path.as_posix(), (SOURCE / path).read_text()
        problems += [f"{page}:{problem}" for problem in unrun_blocks(page, text)]
        for line, command in commands_in_sentences(text) if page.startswith(RUN) else ():
            checked += 1
            if word := unknown_words(command, help_of):
                problems.append(f"{page}:{line}: `{command}`: dfrost does not know '{word}'")
    print(*problems, sep="\n")
    print(f"{len(all_pages())} pages, {checked} commands in sentences")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
