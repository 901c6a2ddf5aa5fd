"""The examples of the docstrings, the code of the tutorial, and the types: all of them hold."""

import doctest
import inspect
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np
from world import Case

import dfrost

SOURCE = Path(__file__).resolve().parents[2]
PACKAGE = Path(dfrost.__file__).parent


class Documentation(Case):
    def test_everything_public_is_documented(self):
        for name in dfrost.__all__:
            self.assertGreater(len(inspect.getdoc(getattr(dfrost, name)) or ""), 20, name)
        self.assertEqual(sorted(dir(dfrost)), sorted([*dfrost.__all__, "torch", "__version__"]))

    def test_the_examples_of_the_docstrings_print_what_they_show(self):
        ran = 0
        for thing in [getattr(dfrost, name) for name in dfrost.__all__] + [dfrost.torch.features]:
            text = inspect.getdoc(thing)
            if not text or ">>>" not in text:
                continue
            test = doctest.DocTestParser().get_doctest(text, {"dfrost": dfrost, "np": np}, thing.__name__, None, 0)
            report = []
            doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL).run(test, out=report.append)
            self.assertEqual("".join(report), "")
            ran += len(test.examples)
        self.assertGreater(ran, 20)

    def test_the_code_of_the_tutorial_runs_and_prints_what_it_shows(self):
        page = (SOURCE / "docs/tutorials/python.md").read_text()
        names, problems = {}, []
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        for code, shown in re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", page, re.S):
            printed = []
            names["print"] = lambda *words: printed.append(" ".join(map(str, words)))
            exec(compile(code, "python.md", "exec"), names)
            found, expected = (re.sub(r"\d+(\.\d+)?(e-?\d+)?", "0", text).split() for text in ("\n".join(printed), shown))
            if shown and found != expected:
                problems.append((code, printed, shown))
        self.assertEqual(problems, [])
        self.assertGreater(len(names), 10)

    def test_types_are_what_the_module_has(self):
        """The stub of the compiled half against it, by stubtest; the Python files, whose types are in them, by mypy."""
        # PyTorch and pandas have types of their own to check, which takes a minute.
        (self.folder / "mypy.ini").write_text("[mypy]\nignore_missing_imports = True\n[mypy-torch.*,pandas.*]\nfollow_imports = skip\n")
        # All classes of pybind11 have a metaclass of its own, which no stub can name; what is in them is compared all the same.
        (self.folder / "allowed").write_text(r"dfrost\._native\.[A-Z]\w+" + "\n")
        for words in (["mypy.stubtest", "dfrost._native", "--concise", "--allowlist", "allowed", "--mypy-config-file", "mypy.ini"],
                      ["mypy", "--strict", "--allow-subclassing-any", "--allow-untyped-decorators", "--no-warn-unused-ignores", "--no-warn-return-any",
                       "-p", "dfrost"]):
            done = subprocess.run([sys.executable, "-m", *words], text=True, capture_output=True, cwd=self.folder,
                                  env={**os.environ, "MYPYPATH": str(PACKAGE.parent)})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
