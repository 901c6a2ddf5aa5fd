"""dfrost export --onnx and --peft: onnx.checker accepts the file, a real onnxruntime (onnxruntime-web in Node) gives dfrost's logits."""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np
import onnx
from vits import random_vit
from world import Case, command, config, data, pictures, read_tensor

import dfrost

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "backbone"))
import convit_oracle  # noqa: E402

WEB = Path(__file__).resolve().parents[2] / "web"


def run_onnx(model, images, batch):
    """The logits by onnxruntime, `batch` pictures at a time."""
    images.tofile(model.parent / "pixels.bin")
    done = subprocess.run([os.environ["DFROST_NODE"], str(WEB / "tests" / "run_onnx.mjs"), str(model), str(model.parent / "pixels.bin"),
                           str(images.shape[2]), str(batch)], capture_output=True, text=True, cwd=WEB)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return np.array(json.loads(done.stdout), np.float32)


class Exports(Case):
    def test_a_trained_adapter_runs_elsewhere_with_the_same_logits(self):
        random_vit(self.folder / "vit.safetensors")
        vit = {"backbone__path": str(self.folder / "vit.safetensors"), "backbone__heads": 2}
        convit_oracle.save(self.folder / "convit.safetensors", convit_oracle.random_weights(heads=3, head_size=16, depth=4, gated=2, patch=4, grid=5, mlp=100))
        convit = {"backbone__path": str(self.folder / "convit.safetensors"), "backbone__heads": 3}
        images, _ = pictures(50, 7, side=24)
        for name, settings, client in (("mini", {}, None), ("client", {"head__kind": "mlp", "head__hidden": [8], **vit}, 1),
                                       ("pfpt", {"head__kind": "pfpt", **vit}, None), ("convit", convit, None),
                                       ("convit-pfpt", {"head__kind": "pfpt", **convit}, 2)):
            run = dfrost.run(config(run__rounds=2, **settings), folder=self.folder / name, data=data(), on_warning=None)
            model = self.folder / f"{name}.onnx"
            command("export", run.folder, "--onnx", model, *(["--client", client] if client is not None else []))
            loaded = onnx.load(str(model))
            onnx.checker.check_model(loaded, full_check=True)
            self.assertEqual(loaded.opset_import[0].version, 17)
            about = {entry.key: json.loads(entry.value) for entry in loaded.metadata_props}
            self.assertEqual(about["classes"], ["dark", "bright"])
            adapter = run.adapter(client)
            self.assertEqual(about["preprocessing"]["crop"], adapter.info.preprocessing.crop)
            expected = adapter.classifier(settings.get("backbone__path"), precision="fp32").logits(images)
            for batch in (1, 16):
                self.assertClose(run_onnx(model, adapter.preprocess(images), batch), expected, 1e-4)

    def test_peft_gets_its_files(self):
        run = dfrost.run(config(run__rounds=1), folder=self.folder / "run", data=data())
        command("export", run.folder, "--peft", self.folder / "peft")
        said = json.loads((self.folder / "peft/adapter_config.json").read_text())
        self.assertEqual((said["peft_type"], said["num_virtual_tokens"], said["token_dim"]),
                         ("PROMPT_TUNING", 3, run.adapter().info.geometry.width))
        stored = self.folder / "peft/adapter_model.safetensors"
        self.assertEqual(read_tensor(stored).tobytes(), run.adapter().prompts.tobytes())
        self.assertEqual(read_tensor(stored, "base_model.model.classifier.weight").tobytes(),
                         run.adapter().tensors["head.0.weight"].tobytes())

    def test_a_pool_of_prompts_is_refused(self):
        run = dfrost.run(config(run__rounds=1, prompts__pool=7, prompts__count=2), folder=self.folder / "run", data=data())
        for flag in ("--onnx", "--peft"):
            with self.assertRaises(AssertionError) as caught:
                command("export", run.folder, flag, self.folder / "out")
            self.assertIn("pool", str(caught.exception))
        with self.assertRaises(AssertionError) as caught:
            command("export", run.folder, "--peft", self.folder / "out", "--client", 9)
        self.assertIn("there is no client 9", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
