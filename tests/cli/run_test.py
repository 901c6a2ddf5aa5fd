"""The runner of the command-line tests must itself be able to fail."""

import unittest

import run


class Runner(unittest.TestCase):
    def test_wildcards_match_what_they_say_and_no_more(self):
        self.assertFalse(run.difference("stdout", ["took <number> s"], "took 1.5e-3 s\n"))
        self.assertTrue(run.difference("stdout", ["took <number> s"], "took long s\n"))
        self.assertFalse(run.difference("stdout", ["a", "...", "z"], "a\nb\nc\nz\n"))
        self.assertTrue(run.difference("stdout", ["a", "...", "z"], "a\nb\n"))
        self.assertTrue(run.difference("stdout", ["a.c"], "abc\n"))

    def test_output_that_nobody_wrote_down_is_a_mismatch(self):
        self.assertTrue(run.difference("stdout", [], "surprise\n"))
        self.assertTrue(run.difference("stderr", ["error: x"], ""))

    def test_a_file_is_parsed_into_its_steps(self):
        steps, needs = run.parse("# c\nneeds: a/b\n$ one\n> more\nout\n\nmore\n$ two\nstderr:\nbad\nexit: 3\n")
        self.assertEqual(needs, ["a/b"])
        self.assertEqual([(s.command, s.stdout, s.stderr, s.exit_code) for s in steps],
                         [("one\nmore", ["out", "", "more"], [], 0), ("two", [], ["bad"], 3)])

    def test_exit_codes_are_compared(self):
        import os
        self.assertFalse(run.run_step(run.Step(1, "exit 3", exit_code=3), ".", os.environ))
        self.assertTrue(run.run_step(run.Step(1, "exit 3"), ".", os.environ))


if __name__ == "__main__":
    unittest.main()
