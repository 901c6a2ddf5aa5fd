"""dfrost.torch: autograd through the frozen model, a training loop that reaches what `dfrost run` reaches, adapters in PyTorch's models."""

import unittest

import numpy as np
import torch
from PIL import Image
from vits import as_hugging_face, as_timm, random_vit
from world import Case, command_json, config, data, pictures

import dfrost


class Torch(Case):
    def test_autograd_gets_the_gradient_of_the_model(self):
        model = dfrost.Backbone("frost-mini", precision="fp32")
        images = torch.from_numpy(model.preprocess(pictures(2, 1)[0]))
        prompts = torch.randn(3, model.geometry.width, requires_grad=True)
        features = dfrost.torch.features(model, images, prompts)
        weights = torch.randn_like(features)
        (features * weights).sum().backward()
        _, back = model.features(images, prompts.detach(), gradient=True)
        self.assertEqual(prompts.grad.numpy().tobytes(), back(weights).tobytes())
        # fp32 is all that the model has: gradcheck with the step and the tolerance of that.
        few = prompts.detach()[:1].clone().requires_grad_()

        def along(scale):
            return (dfrost.torch.features(model, images, few + scale.float() * 0.1) * weights).sum().double()
        self.assertTrue(torch.autograd.gradcheck(along, torch.zeros(1, dtype=torch.double, requires_grad=True), eps=3e-2, atol=5e-2, rtol=5e-2))
        with self.assertRaises(ValueError):
            dfrost.torch.features(model, images.clone().requires_grad_(), prompts)

    def test_a_training_loop_reaches_what_a_run_reaches(self):
        images, labels = pictures(12, 4)
        given = dfrost.Data([(images, labels)], pictures(4, 5), ["dark", "bright"])
        steps = {"method__name": "local", "train__batch": 12, "train__epochs": 1, "train__optimizer": "sgd", "train__momentum": 0.9,
                 "train__learning_rate": 0.05, "train__optimizer_state": "kept"}
        start = dfrost.run(config(run__rounds=0, **steps), folder=self.folder / "start", data=given).adapter(client=0)
        end = dfrost.run(config(run__rounds=8, **steps), folder=self.folder / "end", data=given).adapter(client=0)
        model = dfrost.Backbone("frost-mini", precision="fp32")
        pixels = torch.from_numpy(model.preprocess(images))
        prompts, weight, bias = (torch.tensor(np.array(start.tensors[name]), requires_grad=True)
                                 for name in ("prompt_embeddings", "head.0.weight", "head.0.bias"))
        optimizer = torch.optim.SGD([prompts, weight, bias], lr=0.05, momentum=0.9)
        for _ in range(8):
            optimizer.zero_grad()
            logits = torch.nn.functional.linear(dfrost.torch.features(model, pixels, prompts), weight, bias)
            torch.nn.functional.cross_entropy(logits, torch.from_numpy(labels)).backward()
            optimizer.step()
        self.assertGreater(float(np.abs(end.prompts - start.prompts).max()), 1e-3)  # it has moved
        self.assertClose(prompts.detach(), end.prompts, 1e-4)
        self.assertClose(weight.detach(), end.tensors["head.0.weight"], 1e-4)
        self.assertClose(bias.detach(), end.tensors["head.0.bias"], 1e-4)

    def test_an_adapter_in_a_model_of_pytorch_has_the_logits_of_dfrost(self):
        vit = random_vit(self.folder / "vit.safetensors")
        backbone = {"backbone__path": str(self.folder / "vit.safetensors"), "backbone__heads": 2}
        images, _ = pictures(3, 7, side=40)
        files = []
        for index, image in enumerate(images):
            files.append(self.folder / f"{index}.png")
            Image.fromarray(image).save(files[-1])
        for name, head in (("linear", {}), ("mlp", {"head__kind": "mlp", "head__hidden": [8]}), ("pfpt", {"head__kind": "pfpt"}),
                           ("pool", {"prompts__pool": 7, "prompts__count": 2})):
            run = dfrost.run(config(run__rounds=1, **backbone, **head), folder=self.folder / name, data=data(), on_warning=None)
            said = command_json("predict", "--adapter", run.folder, "--top", 2, "--precision", "fp32", *files)["pictures"]
            expected = [[c["logit"] for c in sorted(p["classes"], key=lambda c: c["index"])] for p in said]
            for model in (vit, as_timm(vit), as_hugging_face(vit)):
                prompted = dfrost.torch.attach(model, run.folder)
                with torch.no_grad():
                    self.assertClose(prompted(prompted.preprocess(images)), expected, 1e-4)
            self.assertClose(run.adapter().classifier(self.folder / "vit.safetensors", precision="fp32").logits(images), expected, 1e-6)
        one = dfrost.torch.attach(vit, run, client=1)
        self.assertEqual((one.adapter.info.model, prompted.adapter.info.model), ("client-001", "network"))
        self.assertClose(one.prompts.detach(), run.adapter(client=1).prompts, 0)

    def test_a_model_of_another_shape_is_refused(self):
        run = dfrost.run(config(run__rounds=1), folder=self.folder / "mini", data=data())
        vit = random_vit(self.folder / "vit.safetensors")
        with self.assertRaises((ValueError, AssertionError)):
            dfrost.torch.attach(vit, run)
        with self.assertRaises(ValueError):
            dfrost.torch.attach(torch.nn.Linear(2, 2), run)


if __name__ == "__main__":
    unittest.main()
