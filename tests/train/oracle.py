"""Local updates written independently in PyTorch, in double and with autograd, from the pixels on.

    oracle.py FOLDER

FOLDER/cases.json lists optimizer trajectories and whole local updates; FOLDER/model-S.safetensors are the frozen
weights of the model with S special tokens; FOLDER/NAME.safetensors the inputs of a case. What the client holds
afterwards goes to FOLDER/NAME-after.safetensors (an optimizer: its values after every step; several rounds, of which
the case lists the orders: FOLDER/NAME-ROUND-after.safetensors).
"""
import json
import sys
from pathlib import Path

import torch
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "base"))
from safetensors_oracle import read, write  # noqa: E402

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


def load(path):
    return {name: torch.tensor(values).double() for name, values in read(path)[0].items()}


def save(path, tensors):
    arrays = {name: tensor.detach().float().numpy() for name, tensor in tensors.items()}
    write(path, {name: ("F32", array.shape, array.tobytes()) for name, array in sorted(arrays.items())})


class Vit:
    """features(patches, prompts): the special tokens after the final norm."""

    def __init__(self, weights, geometry):
        self.w, self.g = weights, geometry

    def linear(self, name, x):
        return F.linear(x, self.w[name + ".weight"], self.w[name + ".bias"])

    def norm(self, name, x):
        return F.layer_norm(x, x.shape[-1:], self.w[name + ".scale"], self.w[name + ".shift"], self.g["epsilon"])

    def embed(self, pixels):
        return self.linear("patch", pixels) + self.w["positions"]

    def features(self, patches, prompts):
        images, specials = len(patches), self.g["special_tokens"]
        x = torch.cat([self.w["special_tokens"].expand(images, -1, -1), prompts.expand(images, -1, -1), patches], 1)
        for i in range(self.g["depth"]):
            q, k, v = (part.unflatten(-1, (self.g["heads"], -1)).transpose(1, 2)
                       for part in self.linear(f"{i}.qkv", self.norm(f"{i}.norm1", x)).chunk(3, -1))
            mixed = (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5).softmax(-1) @ v
            x = x + self.linear(f"{i}.projection", mixed.transpose(1, 2).flatten(-2))
            x = x + self.linear(f"{i}.fc2", F.gelu(self.linear(f"{i}.fc1", self.norm(f"{i}.norm2", x))))
        return self.norm("final_norm", x)[:, :specials]

    def classify(self, features):
        return sum(self.linear(f"head{s}", features[:, s]) for s in range(features.shape[1])) / features.shape[1]


def choose(options, state, query_features):
    """The prompts of each image, and the summed similarity of what was chosen, mean over images."""
    keys = state["pool.keys"] if options["keys"] == "separate" else state["prompt_embeddings"]
    similarity = F.normalize(query_features @ state["pool.projection"].T, dim=1) @ F.normalize(keys, dim=1).T
    chosen = similarity.topk(options["count"], dim=1).indices
    if options["choice"] == "per-batch":
        votes = torch.bincount(chosen.flatten(), minlength=len(keys))
        best = sorted(range(len(keys)), key=lambda j: (-int(votes[j]), j))[: options["count"]]
        chosen = torch.tensor(best).expand(len(similarity), -1)
    if "used" in options:  # a set of all that was ever chosen
        options["used"].update(chosen.flatten().tolist())
    return state["prompt_embeddings"][chosen], similarity.gather(1, chosen).sum() / len(similarity)


def head_inputs(case, vit, features):
    return vit.classify(features) if case["head"] == "pfpt" else features[:, 0]


def logits_of(case, vit, state, features, dropout):
    layers = sum(name.startswith("head.") for name in state) // 2
    x = head_inputs(case, vit, features)
    if case.get("frame"):  # other coordinates: mean and factor L, L⁻¹(x − μ)
        mean, factor = case["frame"]
        x = torch.linalg.solve_triangular(factor, (x - mean).T, upper=False).T
    for i in range(layers):
        x = F.linear(x, state[f"head.{i}.weight"], state[f"head.{i}.bias"])
        if i + 1 < layers:
            x = F.relu(x) if case["head"] == "mlp" else x * dropout
    return x


def make_optimizer(options, parameters):
    if options["kind"] == "adam":
        return torch.optim.Adam(parameters, lr=options["learning_rate"], betas=options["betas"],
                                eps=options["epsilon"])
    return torch.optim.SGD(parameters, lr=options["learning_rate"], momentum=options["momentum"])


def step(optimizer, parameters, loss, radius):
    """One step; with a radius, adaptive SAM: the gradient is taken at w + e, the step made from w."""
    optimizer.zero_grad()
    loss().backward()
    if radius > 0:
        before = [p.detach().clone() for p in parameters]
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
        norm = torch.cat([(p.abs() * g).flatten() for p, g in zip(before, gradients)]).norm()
        with torch.no_grad():
            for p, g in zip(parameters, gradients):
                p += radius * p**2 * g / norm
        optimizer.zero_grad()
        loss().backward()
        with torch.no_grad():
            for p, old in zip(parameters, before):
                p.copy_(old)
    optimizer.step()


def outside_domains(ranges, classes):
    """Per sample, which classes are not those of its domain, given as (first, count)."""
    outside = torch.ones(len(ranges), classes, dtype=bool)
    for i, (first, count) in enumerate(ranges):
        outside[i, first : first + count] = False
    return outside


def batch_features(vit, case, state, samples, batch):
    patches, queries = samples[:2]
    if case["prompts"]["selects"]:
        prompts, similarity = choose(case["prompts"], state, queries[batch])
    else:
        prompts, similarity = state.get("prompt_embeddings", torch.zeros(0, patches.shape[-1])), 0
    return vit.features(patches[batch], prompts), similarity


def batch_loss(vit, case, state, samples, batch, mask):
    """samples: patches, queries, labels, outside; batch: some of their indices; mask: what dropout leaves of them."""
    labels, outside = samples[2:]
    features, similarity = batch_features(vit, case, state, samples, batch)
    logits = logits_of(case, vit, state, features, mask)
    if case["mask"] == "domain":
        logits = logits.masked_fill(outside[batch], -torch.inf)
    return F.cross_entropy(logits, labels[batch]) + case["prompts"]["similarity_weight"] * similarity


def sides_of(state):
    """What moves at the prompts' rate, and the head."""
    return [[t for name, t in state.items() if name.startswith("head.") == head] for head in (False, True)]


def make_optimizer_of(case, state):
    prompts, head = sides_of(state)
    rate = case["optimizer"]["learning_rate"] * case["prompt_rate"]
    return make_optimizer(case["optimizer"], [{"params": prompts, "lr": rate}, {"params": head}])


def train(vit, case, state, samples, orders, dropout, optimizer=None):
    """Trains `state` in place; orders: the samples' indices, epoch by epoch. Prompts that rest have no gradient at all,
    which PyTorch's optimizers pass over."""
    parameters, prompts = list(state.values()), sides_of(state)[0]
    start = [p.detach().clone() for p in prompts]
    optimizer = optimizer or make_optimizer_of(case, state)
    steps = [(epoch, order[i : i + case["batch"]])
             for epoch, order in enumerate(orders) for i in range(0, len(order), case["batch"])]
    for number, (epoch, batch) in enumerate(steps):
        mask = None if dropout is None else dropout[number, : len(batch)]
        moves = epoch < case["prompt_epochs"]
        for p in prompts:
            p.requires_grad_(moves)
            p.grad = p.grad if moves else None

        def loss():
            pull = sum(((p - p0) ** 2).sum() for p, p0 in zip(prompts, start)) if moves else 0
            return batch_loss(vit, case, state, samples, batch, mask) + case["prompt_pull"] / 2 * pull

        step(optimizer, parameters, loss, case["optimizer"]["sam_radius"])
    for p in prompts:
        p.requires_grad_(True)


def local_update(folder, case):
    vit = Vit(load(folder / f"model-{case['geometry']['special_tokens']}.safetensors"), case["geometry"])
    inputs = load(folder / f"{case['name']}.safetensors")
    patches = vit.embed(inputs.pop("pixels"))
    dropout = inputs.pop("dropout", None)
    queries = vit.features(patches, torch.zeros(0, patches.shape[-1]))[:, 0]
    state = {name: tensor.requires_grad_() for name, tensor in inputs.items()}
    samples = patches, queries, torch.tensor(case["labels"]), outside_domains(case["ranges"], case["classes"])
    if "rounds" in case:
        return rounds(folder, vit, case, state, samples)
    train(vit, case, state, samples, case["orders"], dropout)
    save(folder / f"{case['name']}-after.safetensors", state)


def rounds(folder, vit, case, state, samples):
    """One optimizer over several rounds; between them a merge overwrites the parameters with 0.9 of themselves."""
    optimizer = make_optimizer_of(case, state)
    for number, orders in enumerate(case["rounds"]):
        train(vit, case, state, samples, orders, None, optimizer)
        save(folder / f"{case['name']}-{number}-after.safetensors", state)
        with torch.no_grad():
            for parameter in state.values():
                parameter.copy_(0.9 * parameter)


def trajectory(folder, case):
    """Values after each of some steps down Σ a·w²/2 + b·sin(3w)."""
    inputs = load(folder / f"{case['name']}.safetensors")
    a, b, w = inputs["a"], inputs["b"], inputs["w"].requires_grad_()
    optimizer = make_optimizer(case["optimizer"], [w])
    rows = []
    for _ in range(case["steps"]):
        step(optimizer, [w], lambda: (a * w**2 / 2 + b * torch.sin(3 * w)).sum(), case["optimizer"]["sam_radius"])
        rows.append(w.detach().clone())
    save(folder / f"{case['name']}-after.safetensors", {"trajectory": torch.stack(rows)})


if __name__ == "__main__":
    here = Path(sys.argv[1])
    cases = json.loads((here / "cases.json").read_text())
    for one in cases["optimizers"]:
        trajectory(here, one)
    for one in cases["updates"]:
        local_update(here, one)
