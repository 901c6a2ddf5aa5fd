"""dfrost.torch: autograd through the frozen model, a training loop that reaches what `dfrost run` reaches, adapters in PyTorch's models."""

import copy
import io
import unittest

import numpy as np
import torch
from PIL import Image
from vits import HEADS, as_hugging_face, as_timm, random_vit, save_as_published
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

    def test_models_of_timm_and_hugging_face_are_read_and_get_the_adapter_back(self):
        """Modules of their structure and names, whose packages are not here, with and without a distillation token: what they save is a
        backbone, and what is trained around that gives them dfrost's logits."""
        vit = random_vit(self.folder / "vit.safetensors")
        images, _ = pictures(3, 7, side=32)
        for family in (as_timm, as_hugging_face):
            for distilled, head in ((False, "linear"), (True, "linear"), (True, "pfpt")):
                model = family(vit, distilled)
                folder = save_as_published(model, self.folder / f"{family.__name__}-{distilled}-{head}")
                run = dfrost.run(config(run__rounds=1, run__threads=1, backbone__path=str(folder), head__kind=head), folder=folder / "run",
                                 data=data(2, 2, 2), on_warning=None)
                prompted = dfrost.torch.attach(model, run)
                prompted.train()  # the frozen model stays as it was
                with torch.no_grad():
                    logits = prompted(prompted.preprocess(images))
                self.assertClose(logits, run.adapter().classifier(folder, precision="fp32").logits(images), 1e-4)
                self.assertGreater(float(logits.std()), 1e-3)

    def test_a_prompted_model_is_a_module_like_any_other(self):
        vit = random_vit(self.folder / "vit.safetensors")
        run = dfrost.run(config(run__rounds=1, backbone__path=str(self.folder / "vit.safetensors"), backbone__heads=HEADS), folder=self.folder / "run",
                         data=data(2, 2, 2), on_warning=None)
        prompted = dfrost.torch.attach(vit, run)
        images = prompted.preprocess(pictures(2, 7)[0])
        expected = prompted(images).detach()
        twin = copy.deepcopy(prompted)
        saved = io.BytesIO()
        torch.save(prompted, saved)
        saved.seek(0)
        with torch.no_grad():
            for parameter in prompted.vit.parameters():
                parameter.zero_()  # what is copied does not look into the original
            for other in (twin, torch.load(saved)):
                self.assertClose(other(images), expected, 1e-6)
        self.assertEqual([name for name, p in twin.named_parameters() if p.requires_grad], ["prompts", "head.0.weight", "head.0.bias"])

    def test_the_gradient_is_that_of_a_model_in_double_that_gradcheck_accepts(self):
        """Our model has fp32 alone; PyTorch's, with the same weights, has double, and tells how far the difference of fp32 goes."""
        vit = random_vit(self.folder / "vit.safetensors")
        run = dfrost.run(config(run__rounds=1, prompts__count=1, backbone__path=str(self.folder / "vit.safetensors"), backbone__heads=HEADS),
                         folder=self.folder / "run", data=data(2, 2, 2), on_warning=None)
        model = dfrost.Backbone(self.folder / "vit.safetensors", precision="fp32", heads=HEADS)
        exact = dfrost.torch.attach(vit.double(), run)
        self.assertEqual(exact.prompts.dtype, torch.double)
        images = torch.from_numpy(model.preprocess(pictures(2, 7)[0]))

        def logits(prompts):
            return torch.nn.utils.stateless.functional_call(exact, {"prompts": prompts}, (images.double(),))
        prompts = exact.prompts.detach().clone().requires_grad_()
        self.assertTrue(torch.autograd.gradcheck(logits, prompts))
        weights = torch.randn(2, 2, dtype=torch.double)
        (logits(prompts) * weights).sum().backward()
        ours = prompts.detach().float().requires_grad_()
        (exact.head.float()(dfrost.torch.features(model, images, ours)) * weights.float()).sum().backward()
        self.assertClose(ours.grad, prompts.grad, 1e-5 * float(prompts.grad.abs().max()))

    def test_what_does_not_fit_is_refused_with_the_fix(self):
        run = dfrost.run(config(run__rounds=1), folder=self.folder / "mini", data=data())
        vit = random_vit(self.folder / "vit.safetensors")
        for model in (vit, as_timm(vit), as_hugging_face(vit)):
            with self.assertRaisesRegex(ValueError, "of another shape: width 192, patches of 8"):
                dfrost.torch.attach(model, run)
        for model in (torch.nn.Linear(2, 2), "vit"):
            with self.assertRaises(ValueError):
                dfrost.torch.attach(model, run)
        with self.assertRaisesRegex(ValueError, "client"):
            dfrost.torch.attach(vit, run.adapter(), client=1)
        model = dfrost.Backbone("frost-mini", precision="fp32")
        images, prompts = torch.zeros(1, 3, 64, 64), torch.zeros(2, 192)
        for wrong, fix in (((model, images.numpy(), prompts), "torch.from_numpy(images)"), ((model, images, None), "prompts"), (("frost-mini", images, prompts), "Backbone"),
                           ((model, images, prompts.double()), "float32"), ((model, images, prompts.expand(1, 2, 192)[:, :, ::2]), "one set"),
                           ((model, images.permute(0, 1, 3, 2), prompts), "contiguous"), ((model, images, prompts.T), "one set")):
            with self.assertRaises(ValueError) as caught:
                dfrost.torch.features(*wrong)
            self.assertIn(fix, caught.exception.hint)


if __name__ == "__main__":
    unittest.main()
