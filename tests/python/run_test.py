"""run, load_run and Config: the command's bytes; who watches, who stops; merges and pictures of one's own."""

import copy
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from world import Case, command, config, data, pictures

import dfrost


def average(sets):
    return np.mean([s.astype(np.float64) for s in sets], axis=0)


class Runs(Case):
    def run_here(self, name="run", **how):
        return dfrost.run(how.pop("config", None) or config(), folder=self.folder / name, data=how.pop("data", None) or data(), **how)

    def test_a_run_leaves_the_bytes_of_the_command(self):
        for seed, split in enumerate(("train", "test")):
            for index, (image, label) in enumerate(zip(*pictures(18 - 10 * seed, seed))):
                place = self.folder / "pictures" / split / ("dark", "bright")[label]
                place.mkdir(parents=True, exist_ok=True)
                Image.fromarray(image).save(place / f"{index}.png")
        settings = {"data.domains": [{"name": "mine", "path": str(self.folder / "pictures")}]}
        experiment = config(**settings)
        (self.folder / "mine.toml").write_text(experiment.to_toml())
        command("run", self.folder / "mine.toml", "--runs", self.folder / "cli", "--no-report", "--quiet", cwd=self.folder)
        seen = []
        run = dfrost.run(dfrost.Config(self.folder / "mine.toml"), folder=self.folder / "py", on_round=seen.append)
        for name in ("network", "client-000", "client-002"):
            self.assertEqual((self.folder / "py/adapter" / f"{name}.safetensors").read_bytes(),
                             (self.folder / "cli/mine/adapter" / f"{name}.safetensors").read_bytes())
        twin = dfrost.load_run(self.folder / "cli/mine")
        self.assertEqual([r.consensus_error for r in run.rounds], [r.consensus_error for r in twin.rounds])
        self.assertEqual([r.round for r in seen], [1, 2])
        self.assertEqual([r.accuracy_masked for r in seen], [r["evaluation.accuracy_masked.mean"] for r in run.rounds])
        ours, theirs = ([line for line in r.config.to_toml().splitlines() if not line.startswith("path =")] for r in (run, twin))
        self.assertEqual(ours, theirs)
        frame = run.frame()
        self.assertEqual(list(frame["consensus_error"]), [r.consensus_error for r in run.rounds])
        self.assertEqual((run.summary.rounds, run.summary.clients, run.finished), (2, 3, True))
        guesses = run.adapter().classifier("frost-mini").classify(pictures(2, 8)[0], top=2)
        self.assertEqual(sorted(g.name for g in guesses[0]), ["bright", "dark"])

    def test_an_exception_in_on_round_ends_the_run_and_it_can_be_resumed(self):
        whole = self.run_here("whole", config=config(run__rounds=3))

        def stop(r):
            if r.round == 1:
                raise KeyError("enough")
        with self.assertRaises(KeyError):
            self.run_here("stopped", config=config(run__rounds=3, run__checkpoint_every=0), on_round=stop)
        self.assertEqual(len(dfrost.load_run(self.folder / "stopped").rounds), 1)
        with self.assertRaises(dfrost.Error) as caught:
            self.run_here("stopped", config=config(run__rounds=3))
        self.assertEqual(caught.exception.code, "already_exists")
        notes = []
        again = self.run_here("stopped", config=config(run__rounds=3), resume=True, on_note=notes.append)
        self.assertIn("resumed after round 1", notes)
        self.assertEqual(again.adapter().prompts.tobytes(), whole.adapter().prompts.tobytes())
        self.assertTrue(again.adapter().info.verified)

    def test_a_run_that_is_started_over_moves_the_earlier_one_aside(self):
        self.run_here()
        self.assertEqual(len(self.run_here(config=config(run__rounds=1), start_over=True).rounds), 1)
        self.assertEqual(len(dfrost.load_run(self.folder / "run-old-1").rounds), 2)
        with self.assertRaises(ValueError):
            self.run_here(resume=True, start_over=True)

    def test_ctrl_c_stops_a_run_which_can_be_resumed(self):
        script = ("import sys; sys.path.insert(0, sys.argv[1]); from world import *\n"
                  "dfrost.run(config(run__rounds=100000), folder=sys.argv[2], data=data(), on_round=lambda r: print(r.round, flush=True))\n")
        process = subprocess.Popen([sys.executable, "-B", "-c", script, str(Path(__file__).parent), str(self.folder / "long")], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertIn("KeyboardInterrupt", errors)
        done = len(dfrost.load_run(self.folder / "long").rounds)
        again = dfrost.run(config(run__rounds=done + 1), folder=self.folder / "long", data=data(), resume=True)
        self.assertEqual(len(again.rounds), done + 1)

    def test_other_threads_work_while_a_run_does(self):
        ticks, stop = [], threading.Event()

        def tick():
            while not stop.is_set():
                ticks.append(threading.get_ident())
                time.sleep(0.001)
        thread = threading.Thread(target=tick)
        thread.start()
        callers = set()
        self.run_here(on_round=lambda r: callers.add(threading.get_ident()), on_progress=lambda *p: callers.add(threading.get_ident()))
        stop.set()
        thread.join()
        self.assertGreater(len(ticks), 20)
        self.assertEqual(callers, {threading.get_ident()})

    def test_a_merge_of_ones_own_that_does_what_a_kind_does_gives_its_results(self):
        ours = self.run_here("ours", config=config(merge__kind="average"))
        calls = []

        def my_merge(sets):
            calls.append((sets.client, sets.round, len(sets)))
            weights = np.asarray(sets.weights)
            return np.tensordot(weights, np.asarray(sets, np.float64), 1)
        theirs = self.run_here("theirs", config=config(merge__kind="average"), merge=my_merge)
        self.assertEqual(sorted(calls), [(client, r, 3) for client in range(3) for r in (1, 2)])
        self.assertClose(theirs.adapter(client=1).prompts, ours.adapter(client=1).prompts, 1e-6)
        self.assertLess(theirs.rounds[-1].consensus_error, 1e-9)  # a full graph: all have the same mean

    def test_a_merge_of_ones_own_is_deterministic_and_resumed_under_its_name_alone(self):
        one, two = (self.run_here(name, merge=average) for name in ("one", "two"))
        self.assertEqual(one.adapter(client=2).prompts.tobytes(), two.adapter(client=2).prompts.tobytes())
        with self.assertRaises(ValueError):
            self.run_here("one", config=config(run__rounds=3), merge=lambda sets: sets[0], resume=True)
        self.assertEqual(len(self.run_here("one", config=config(run__rounds=3), merge=average, resume=True).rounds), 3)

    def test_what_is_wrong_with_a_merge_of_ones_own_is_said(self):
        def raises(sets):
            raise RuntimeError("mine")
        for name, merge, kind in (("a", raises, RuntimeError), ("b", lambda sets: sets[0][:1], ValueError),
                                  ("c", lambda sets: sets[0] * np.nan, ValueError), ("d", lambda sets: None, ValueError),
                                  ("e", dfrost.merge, ValueError), ("f", "average", ValueError)):
            with self.assertRaises(kind):
                self.run_here(name, merge=merge)
        doubles = self.run_here("doubles", merge=lambda sets: torch.from_numpy(sets[0]).double().requires_grad_())
        self.assertEqual(len(doubles.rounds), 2)

    def test_a_merge_of_ones_own_that_would_never_be_called_is_refused(self):
        """Whatever the method: it is called, or the run says why not before it begins."""
        called = {}
        for method in dfrost.methods():
            def own(sets):
                called[method] = True
                return sets[0]
            try:
                self.run_here(method, config=config(run__rounds=1, method__name=method), merge=own, on_warning=None,
                              data=data(clients=2, each=2, test=2))
                self.assertIn(method, called)
            except dfrost.InvalidValue as error:
                self.assertIn("would never be called", str(error))
                self.assertNotIn(method, called)
        self.assertTrue({"dfrost", "d-psgd", "dfedavgm", "d2", "dfrost-plus"} <= set(called))
        self.assertFalse({"local", "central", "fedavg-pt"} & set(called))

    def test_wrong_pictures_are_refused_with_the_fix(self):
        images, labels = pictures(4, 1)
        for clients in ([(images, labels[:3])], [(images, labels + 5)], [(images / 255, labels)], [(images, labels - 1)], []):
            with self.assertRaises(ValueError):
                self.run_here(data=dfrost.Data(clients, (images, labels), ["dark", "bright"]))
        self.assertFalse((self.folder / "run" / "metrics.jsonl").exists())
        for wrong in ((images, labels), dfrost.Data((images, labels), (images, labels), ["a", "b"]), dfrost.Data([(images, labels)], None, ["a", "b"])):
            with self.assertRaises(ValueError) as caught:
                self.run_here(data=wrong)
            self.assertIn("dfrost.Data([(images, labels)", caught.exception.hint)
        for classes in ("ab", ["a", "a"]):
            with self.assertRaises(ValueError):
                dfrost.Data([(images, labels)], (images, labels), classes)

    def test_pictures_may_be_those_of_pillow_and_tensors(self):
        images, labels = pictures(4, 1)
        plain, other = (self.run_here(name, data=dfrost.Data([given], (images, labels), ["dark", "bright"])) for name, given in (
            ("plain", (images, labels)), ("other", ([Image.fromarray(image) for image in images], torch.from_numpy(labels)))))
        self.assertEqual(plain.adapter().prompts.tobytes(), other.adapter().prompts.tobytes())

    def test_what_is_wrong_with_a_call_is_said_before_the_run_begins(self):
        for words, name in (({"on_round": 5}, "on_round"), ({"resume": "yes"}, "resume"), ({"merge": 7}, "merge")):
            with self.assertRaisesRegex(ValueError, name):
                self.run_here(**words)
        with self.assertRaisesRegex(ValueError, "folder"):
            dfrost.run(config(), folder=5, data=data())
        (self.folder / "file").write_text("")
        with self.assertRaises(dfrost.Error):
            dfrost.run(config(), folder=self.folder / "file", data=data())
        self.run_here()
        with self.assertRaises(dfrost.Error) as caught:
            self.run_here()
        self.assertIn("resume=True", caught.exception.hint)
        self.assertNotIn("--", caught.exception.hint)

    def test_results_can_be_shown_completed_and_pickled(self):
        run = self.run_here()
        again = pickle.loads(pickle.dumps(run))
        self.assertEqual([r.figures for r in again.rounds], [r.figures for r in run.rounds])
        self.assertEqual((again.config, again.summary.figures), (run.config, run.summary.figures))
        self.assertEqual(pickle.loads(pickle.dumps(run.adapter())).prompts.tobytes(), run.adapter().prompts.tobytes())
        last = run.rounds[-1]
        self.assertIn(f"accuracy_masked={last.accuracy_masked:.4g}", repr(last))
        for shown in (repr(run), repr(run.summary), repr(run.adapter()), repr(run.adapter().classifier()), repr(data())):
            self.assertNotIn(" object at ", shown)
        for name in ("accuracy_masked", "consensus_error", "seconds_train", "accuracy_masked_min"):
            self.assertIn(name, dir(last))
            self.assertEqual(getattr(last, name), last.figures[next(f for f in last.figures if f.endswith(name.replace("seconds_", "seconds.").replace(
                "_min", ".min")) or f.endswith(name + ".mean"))])
        self.assertFalse(hasattr(last, "acuracy_masked"))
        with self.assertRaisesRegex(AttributeError, "did you mean accuracy_masked"):
            last.acuracy_masked
        with self.assertRaisesRegex(ValueError, "evaluation.accuracy_masked.mean"):
            last["accuracy_masked"]
        with self.assertRaisesRegex(ValueError, "load_run"):
            dfrost.Adapter(run.folder)
        with self.assertRaises(ValueError):
            run.adapter(client="0")

    def test_fewer_pictures_than_the_config_has_clients_are_enough(self):
        experiment = config(run__rounds=1, partition__clients_per_domain=50)
        run = self.run_here(config=experiment, data=data(clients=2, each=1))
        self.assertEqual((run.summary.clients, run.config["partition.clients_per_domain"]), (2, 2))
        self.assertEqual(experiment["partition.clients_per_domain"], 50)
        self.assertEqual(len(self.run_here(config=config(run__rounds=2), data=data(clients=2, each=1), resume=True).rounds), 2)

    def test_scoring_is_weighed_against_the_pictures_that_are_brought(self):
        notes = []
        run = self.run_here(config=config(run__rounds=1, evaluate__share=0.2), data=data(test=70), on_note=notes.append)
        self.assertIn("scored on 60 test pictures of each domain", "\n".join(notes))
        self.assertIn("train = 18, test = 70", run.config["data.domains"])

    def test_a_config_has_its_keys_as_attributes_and_by_name(self):
        c = config()
        c.run.seed = 7
        c["merge.kind"] = "average"
        c.set({"prompts.count": 5, "train.learning_rate": 0.5})
        self.assertEqual((c["run.seed"], c.merge.kind, c.prompts.count, c.train.learning_rate), (7, "average", 5, 0.5))
        self.assertEqual(dfrost.Config.parse(c.to_toml()), c)
        self.assertIn("rounds", dir(c.run))
        for wrong in ({"run.sed": 1}, {"merge.kind": "men"}, {"run.rounds": "many"}):
            with self.assertRaises(ValueError):
                c.set(wrong)
        with self.assertRaises(ValueError) as caught:
            c.run.sed = 1
        self.assertEqual((caught.exception.hint, c.run.seed), ("did you mean 'seed'?", 7))
        with self.assertRaises(FileNotFoundError):
            dfrost.Config(self.folder / "none.toml")
        with self.assertRaises(FileNotFoundError):
            dfrost.load_run(self.folder / "none")

    def test_what_is_no_key_cannot_be_set_and_copies_are_independent(self):
        c = config()
        with self.assertRaisesRegex(AttributeError, "did you mean config.run.rounds"):
            c.rounds = 3
        with self.assertRaisesRegex(ValueError, "config.run.name"):
            c.run = 3
        self.assertFalse(hasattr(c, "rounds") or hasattr(c.run, "round"))
        c.run = {"rounds": 4, "seed": 3}
        for twin in (c.copy(), copy.copy(c), copy.deepcopy(c), pickle.loads(pickle.dumps(c))):
            self.assertEqual(twin, c)
            twin.run.rounds = 9
            self.assertEqual(c.run.rounds, 4)
        c.set({"head.kind": "mlp", "head.hidden": np.array([8, 4]), "merge.early_stop": np.bool_(True), "train.learning_rate": np.float32(0.5),
               "data.domains": [{"name": "mine", "path": Path("/with a space")}]})
        self.assertEqual((c.head.hidden, c.merge.early_stop, c.train.learning_rate), ([8, 4], True, 0.5))
        self.assertIn('"/with a space"', c["data.domains"])
        self.assertEqual(dict(c), dict(c.items()))
        self.assertEqual((len(c), "run.seed" in c), (len(dfrost.keys()), True))
        for wrong in (["run.rounds"], {3: 4}, {"run.rounds": None}):
            with self.assertRaises(ValueError):
                c.set(wrong)
        for wrong in (lambda: dfrost.Config(3), lambda: dfrost.Config.preset(3), lambda: dfrost.Config.parse(None), lambda: c[3]):
            with self.assertRaises(ValueError):
                wrong()


if __name__ == "__main__":
    unittest.main()
