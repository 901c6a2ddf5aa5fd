"""The runner of the documentation, and the check that nothing is left out, must themselves be able to fail."""

import importlib.util
import os
import tempfile
import unittest
from pathlib import Path


def load(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


docs, check = load("run"), load("check")


def run_page(text):
    with tempfile.TemporaryDirectory() as folder:
        return docs.run_page(text, folder, dict(os.environ, HOME="/no/home"), Path(folder))


class Runner(unittest.TestCase):
    def test_runs_the_blocks_of_a_page_in_one_folder(self):
        ran, problems, absent = run_page("<!-- before: echo 3 >a -->\n```sh\ncat a\n```\n```console\n$ cat a\n3\n```\n")
        self.assertEqual((ran, problems, absent), (2, [], None))

    def test_reports_a_command_that_fails_anywhere_in_a_block(self):
        self.assertIn("line 2:", run_page("x\n```sh\nfalse\ntrue\n```\n")[1])
        self.assertIn("line 1:", run_page("```console\n$ false\n$ true\n```\n")[1])
        self.assertIn("line 1:", run_page("<!-- before: false -->\n")[1])

    def test_compares_what_is_shown_but_for_numbers_and_spacing(self):
        self.assertEqual(run_page("```sh\necho took 1.5 s\n```\n\n```text\ntook   22 s\n```\n")[1], [])
        self.assertNotEqual(run_page("```sh\necho took 1.5 s\n```\n\n```text\nlasted 22 s\n```\n")[1], [])
        self.assertEqual(run_page("```console\n$ echo /no/home/a; \\\n  echo b >&2\n~/a\nb\n$ echo c\n```\n")[1], [])
        self.assertNotEqual(run_page("```console\n$ echo a\nb\n```\n")[1], [])

    def test_stops_where_data_is_absent(self):
        ran, problems, absent = run_page("```sh\ntrue\n```\n<!-- needs: no/such -->\n```sh\nfalse\n```\n")
        self.assertEqual((ran, problems, absent), (1, [], "no/such"))

    def test_interrupts_what_would_not_end_once_it_has_printed_what_is_shown(self):
        page = "<!-- ended by: Ctrl-C -->\n```console\n$ trap 'echo bye; exit 0' INT; echo hello; while :; do sleep 0.1; done\nhello\n{}\n```\n"
        self.assertEqual(run_page(page.format("..."))[1], [])
        self.assertNotEqual(run_page(page.format("...").replace("echo hello", "echo hullo"))[1], [])

    def test_leaves_out_the_one_block_that_is_run_elsewhere(self):
        page = "<!-- run by: other -->\n```console\n$ false\n```\n```console\n$ true\n```\n"
        self.assertEqual(run_page(page), (1, [], None))


class Check(unittest.TestCase):
    def problems(self, text, page="docs/how-to/page.md"):
        return list(check.unrun_blocks(page, text))

    def test_knows_what_is_run(self):
        self.assertEqual(self.problems("```sh\ntrue\n```\n```console\n$ true\n```\n```text\nno command\n```\n"), [])

    def test_finds_shell_in_any_other_block(self):
        for language in ("bash", "shell", ""):
            self.assertEqual(len(self.problems(f"```{language}\ntrue\n```\n")), 1, language)
        self.assertEqual(len(self.problems("```console\ntrue\n```\n")), 1)

    def test_lets_users_read_nothing_that_is_not_run(self):
        page = "<!-- not run: takes an hour -->\n```console\n$ true\n```\n"
        self.assertEqual(self.problems(page, "docs/performance.md"), [])
        self.assertEqual(len(self.problems(page, "README.md")), 1)

    def test_finds_pages_that_nothing_runs(self):
        self.assertEqual(len(self.problems("```sh\ntrue\n```\n", "tools/README.md")), 1)

    def test_believes_no_file_that_does_not_run_it(self):
        page = "<!-- run by: .ci/run -->\n```console\n$ {}   # a comment\n```\n"
        self.assertEqual(self.problems(page.format("./test")), [])
        self.assertEqual(len(self.problems(page.format("./tests"))), 1)
        self.assertEqual(len(self.problems(page.format("./test").replace(".ci/run", "no/such"))), 1)
        reads_it = page.format("any --thing").replace(".ci/run", "tests/tools/frost_mini_test.py")
        self.assertEqual(self.problems(reads_it, "tools/frost_mini/README.md"), [])
        self.assertEqual(len(self.problems(reads_it, "docs/how-to/page.md")), 1)

    def test_refuses_a_misspelt_comment(self):
        self.assertEqual(len(self.problems("<!-- befor: true -->\n")), 1)

    def test_reads_commands_in_sentences_against_the_help(self):
        text = "Try `dfrost run\nx.toml --resume`.\n```sh\n`dfrost not this`\n```\n"
        self.assertEqual(list(check.commands_in_sentences(text)), [(1, "dfrost run x.toml --resume")])
        pages = {(): "  run   Run it", ("run",): "  --resume   Go on"}
        self.assertIsNone(check.unknown_words("dfrost run x.toml --resume", pages.get))
        self.assertEqual(check.unknown_words("dfrost run x.toml --resum", pages.get), "--resum")
        self.assertEqual(check.unknown_words("dfrost rum x.toml", pages.get), "rum")


if __name__ == "__main__":
    unittest.main()
