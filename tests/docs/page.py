"""A Markdown page as the tests see it: fenced blocks, and the comments, invisible to readers, that say how they are run."""

import re
from dataclasses import dataclass

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*(\S*)")
DIRECTIVE = re.compile(r"<!-- ([a-z][a-z ]*): (.*?) -->$")


@dataclass
class Directive:
    line: int
    name: str
    argument: str


@dataclass
class Block:
    line: int
    language: str
    text: str = ""
    end: int = 0  # the line of the closing fence

    @property
    def has_commands(self):
        return self.language in ("sh", "console")

    def commands(self):
        """(command, the lines that it is said to print) of a terminal: after "$ ", also over lines that end in a backslash."""
        if self.language == "sh":
            return [(self.text, [])]
        found, continues = [], False
        for line in self.text.splitlines():
            if line.startswith("$ "):
                found.append([line[2:], []])
            elif continues:
                found[-1][0] += "\n" + line
            elif found:
                found[-1][1].append(line)
            continues = line.endswith("\\") and (line.startswith("$ ") or continues)
        return [tuple(pair) for pair in found]


def pieces(text):
    """The directives and blocks of a page, in order."""
    found, fence = [], None
    for number, line in enumerate(text.splitlines(), 1):
        mark = FENCE.match(line)
        if fence is not None:
            if mark and mark[1].startswith(fence) and not mark[2]:
                found[-1].end, fence = number, None
            else:
                found[-1].text += line + "\n"
        elif mark:
            found.append(Block(number, mark[2]))
            fence = mark[1]
        elif directive := DIRECTIVE.match(line.strip()):
            found.append(Directive(number, directive[1], directive[2]))
    return found
