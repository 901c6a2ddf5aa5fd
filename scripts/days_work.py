"""What the last day changed, whatever the clock says: since the last commit that is 12 hours older than HEAD."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
A_DAYS_WORK = 12 * 3600


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def base_of_the_day():
    """The commit; the empty tree, so that all files count as changed, where the history does not reach that far."""
    written = int(git("log", "-1", "--format=%ct"))
    return git("rev-list", "-1", f"--before={written - A_DAYS_WORK}", "HEAD") or git("hash-object", "-t", "tree", "/dev/null")


def lines_changed(base, *folders, ignoring=()):
    """path -> (lines added, lines removed) since the base, uncommitted and new files included, removed ones not."""
    lines = {}
    counted = git("diff", "-M", *ignoring, "--numstat", "-z", "--diff-filter=d", base, "--", *folders)
    fields = iter(counted.split("\0"))
    for field in fields:
        if not field:
            continue
        added, removed, path = field.split("\t")
        if not path:  # renamed: the old and the new path follow
            next(fields)
            path = next(fields)
        lines[path] = (int(added), int(removed)) if added != "-" else (0, 0)
    for path in git("ls-files", "--others", "--exclude-standard", "--", *folders).splitlines():
        lines[path] = (len((ROOT / path).read_bytes().splitlines()), 0)
    return lines
