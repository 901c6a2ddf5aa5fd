"""The runner of the documentation must itself be able to fail."""

import importlib.util
import os
import tempfile
import unittest
from pathlib import Path

spec = importlib.util.spec_from_file_location("docs_run", Path(__file__).with_name("run.py"))
docs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(docs)


def run_page(text):
    with tempfile.TemporaryDirectory() as folder:
        return docs.run_page(text, folder, dict(os.environ), Path(folder))


class Runner(unittest.TestCase):
    def test_runs_the_blocks_of_a_page_in_one_folder(self):
        ran, problems, absent = run_page("<!-- before: echo 3 >a -->\n```sh\ncat a\n```\n```console\nfalse\n```\n")
        self.assertEqual((ran, problems, absent), (1, [], None))

    def test_reports_a_command_that_fails_anywhere_in_a_block(self):
        self.assertIn("line 2:", run_page("x\n```sh\nfalse\ntrue\n```\n")[1])

    def test_compares_what_is_shown_but_for_numbers_and_spacing(self):
        self.assertEqual(run_page("```sh\necho took 1.5 s\n```\n\n```text\ntook   22 s\n```\n")[1], [])
        self.assertNotEqual(run_page("```sh\necho took 1.5 s\n```\n\n```text\nlasted 22 s\n```\n")[1], [])

    def test_stops_where_data_is_absent(self):
        ran, problems, absent = run_page("```sh\ntrue\n```\n<!-- needs: no/such -->\n```sh\nfalse\n```\n")
        self.assertEqual((ran, problems, absent), (1, [], "no/such"))


if __name__ == "__main__":
    unittest.main()
