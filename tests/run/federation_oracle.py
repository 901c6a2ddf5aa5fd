"""Whole federations written independently in PyTorch and NumPy, in double, from the pictures' bytes on.

    federation_oracle.py FOLDER

FOLDER/cases.json lists them, FOLDER/model.safetensors is the frozen model, FOLDER/pictures.safetensors the training
pictures. Of a case FOLDER/NAME.safetensors holds what is drawn at random and so cannot be recomputed: the clients' first
values ("CLIENT/PART") and dropout factors ("dropout/ROUND/CLIENT"); data orders, partition and links are in its entry of
cases.json. What every client holds after every round goes to FOLDER/NAME-after.safetensors ("ROUND/CLIENT/PART"), and the
network model's head beside it ("network/PART").
"""
import json
import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "train"))
from oracle import Vit, batch_features, batch_loss, head_inputs, load, outside_domains, save, train  # noqa: E402

MEAN, STD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
PROMPTS, KEYS = "prompt_embeddings", "pool.keys"


def preprocess(pictures, size, patch):
    """[pictures, height, width, 3] bytes -> [pictures, patches, 3·patch²], patches and their colour planes row by row."""
    resized = [Image.fromarray(p.astype(np.uint8)).resize((size, size), Image.BILINEAR) for p in pictures]
    planes = (np.stack([np.asarray(p) for p in resized]) / 255 - MEAN) / STD
    side = size // patch
    cut = planes.reshape(len(planes), side, patch, side, patch, 3).transpose(0, 1, 3, 5, 2, 4)
    return torch.tensor(cut.reshape(len(planes), side * side, 3 * patch * patch))


def mixing_matrix(clients, links):
    linked = np.zeros((clients, clients))
    for a, b in links:
        linked[a, b] = linked[b, a] = 1
    degrees = linked.sum(1)
    weights = linked / (1 + np.maximum.outer(degrees, degrees))
    return weights + np.diag(1 - weights.sum(1))


def transport_merge(options, sets, weights, start):
    """The alternation of the paper's eq. P_subproblem and update_phi over all rows of all sets: prompts and plan."""
    rows = np.concatenate(sets)
    mass = np.concatenate([np.full(len(s), w / len(s)) for s, w in zip(sets, weights)])
    phi = start
    for _ in range(options["steps"]):
        cost = ((rows[:, None] - phi[None]) ** 2).sum(2) / (2 * options["sigma2"])
        scores = -cost / options["epsilon"]
        plan = np.exp(scores - scores.max(1, keepdims=True))
        plan *= mass[:, None] / plan.sum(1, keepdims=True)
        phi = plan.T @ rows / (plan.sum(0) + options["lambda"])[:, None]
    return phi, plan


def keys_along(plan, sets):
    """The keys of the prompts that each merged prompt comes from, in their shares of it; a dead prompt's stay."""
    mass = plan.sum(0)
    return np.stack([plan[:, i] @ np.concatenate(sets) / mass[i] if mass[i] * len(mass) >= 1e-6 else sets[0][i]
                     for i in range(len(mass))])


def class_weights(options, mixing, masses):
    """[senders, classes]: what every sender's row of a class weighs; where nobody knows it, as in the mixing matrix."""
    behind = mixing[:, None] * (options["floor"] + masses) ** options["power"]
    known = behind.sum(0) > 0
    behind[:, ~known] = mixing[:, None]
    return behind / behind.sum(0)


def class_rows(state):
    last = sum(name.endswith(".weight") for name in state) - 1
    return [f"head.{last}.weight", f"head.{last}.bias"]


def by_class(weights, values):
    return sum(w.reshape(-1, *[1] * (v.ndim - 1)) * v for w, v in zip(weights, values))


def merge_client(options, u, trained, previous, weights, masses):
    """What client u holds after the exchange; `weights` is its row of the mixing matrix."""
    senders = [u] + [v for v in range(len(trained)) if v != u and weights[v] > 0]
    own = trained[u]
    if len(senders) == 1:
        return own
    row = weights[senders]
    merged = {}
    if options["kind"] == "ot":
        start = previous if options["init"] == "previous" else own[PROMPTS]
        shares = row if options["weights"] == "mixing" else np.full(len(senders), 1 / len(senders))
        merged[PROMPTS], plan = transport_merge(options, [trained[v][PROMPTS] for v in senders], shares, start)
        if KEYS in own:
            merged[KEYS] = keys_along(plan, [trained[v][KEYS] for v in senders])
    if options["head"] == "class-mass":
        by_mass = class_weights(options["mass"], row, masses[senders])
        for name in class_rows(own):
            merged[name] = by_class(by_mass, [trained[v][name] for v in senders])
    for name, values in own.items():
        if name in merged:
            continue
        if name == PROMPTS or options["head"] != "own":
            merged[name] = sum(w * trained[v][name] for w, v in zip(row, senders))
        else:
            merged[name] = values
    return merged


FIRST = ("head.0.weight", "head.0.bias")


def enter(frame, values):
    """The head as one of L⁻¹(x − μ)."""
    if frame is None:
        return values
    (mean, factor), (weight, bias) = frame, (values[name] for name in FIRST)
    return {**values, FIRST[0]: weight @ factor, FIRST[1]: bias + weight @ mean}


def leave(frame, values):
    if frame is None:
        return values
    (mean, factor), (weight, bias) = frame, (values[name] for name in FIRST)
    back = np.linalg.solve(factor.T, weight.T).T
    return {**values, FIRST[0]: back, FIRST[1]: bias - back @ mean}


def frames(case, vit, states, samples):
    """Mean and factor of every client's moments after mixing; of centred coordinates the factor is the unit matrix."""
    options = case["frame_options"]
    if options["coordinates"] == "raw":
        return [None] * len(states)
    moments = []
    for state, own, mine in zip(states, case["clients"], samples):
        tensors = {name: torch.tensor(value) for name, value in state.items()}
        here = {**case, "prompts": {**case["prompts"], "count": own["count"]}}
        features, _ = batch_features(vit, here, tensors, mine, torch.arange(len(mine[0])))
        x = head_inputs(case, vit, features).numpy()
        moments.append((len(x), x.sum(0), x.T @ x))
    if options["moments"] == "network":
        weights = mixing_matrix(len(states), options["links"])
        for _ in range(options["rounds"]):
            moments = [tuple(sum(w * m[k] for w, m in zip(row, moments)) for k in range(3)) for row in weights]
    result = []
    for count, total, products in moments:
        mean = total / count
        factor = np.eye(len(mean))
        if options["coordinates"] == "whitened":
            covariance = products / count - np.outer(mean, mean)
            factor = np.linalg.cholesky(covariance + options["shrinkage"] * np.trace(covariance) / len(mean) * factor)
        result.append((mean, factor))
    return result


def in_frame(case, frame):
    return {**case, "frame": None if frame is None else tuple(torch.tensor(part) for part in frame)}


def train_client(vit, case, frame, values, samples, orders, dropout):
    state = {name: torch.tensor(value).requires_grad_() for name, value in enter(frame, values).items()}
    train(vit, in_frame(case, frame), state, samples, orders, dropout)
    return leave(frame, {name: tensor.detach().numpy() for name, tensor in state.items()})


def gradient(vit, case, frame, values, samples, order, dropout):
    """Of the mean loss over all of a client's pictures, or over the first batch of its order; the step that it means
    where it was taken in other coordinates."""
    case = in_frame(case, frame)
    state = {name: torch.tensor(value).requires_grad_() for name, value in enter(frame, values).items()}
    if case["gradient"] == "batch":
        order = order[: case["batch"]]
    total = 0
    for number, first in enumerate(range(0, len(order), case["batch"])):
        batch = order[first : first + case["batch"]]
        mask = None if dropout is None else dropout[number, : len(batch)]
        total = total + len(batch) / len(order) * batch_loss(vit, case, state, samples, batch, mask)
    gradients = torch.autograd.grad(total, list(state.values()), allow_unused=True)
    taken = {name: np.zeros_like(values[name]) if g is None else g.numpy() for name, g in zip(state, gradients)}
    rate = case["prompt_rate"] if case["prompt_epochs"] > 0 else 0
    return leave(frame, {name: g if name.startswith("head.") else rate * g for name, g in taken.items()})


def corrected(rate, state, g, last):
    """What a client of D² sends: its gradient step, corrected by the state and gradient of its last round."""
    if last is None:
        return {name: x - rate * g[name] for name, x in state.items()}
    return {name: 2 * x - last[0][name] - rate * (g[name] - last[1][name]) for name, x in state.items()}


def lazy_where_needed(weights):
    """(I + W)/2 where W has an eigenvalue of -1/3 or less."""
    needed = np.linalg.eigvalsh(weights).min() <= -1 / 3 + 1e-6
    return (weights + np.eye(len(weights))) / 2 if needed else weights


def federation(vit, case, inputs, patches, queries):
    clients = case["clients"]
    states = [{name.split("/")[1]: t.numpy() for name, t in inputs.items() if name.startswith(f"{u}/")}
              for u in range(len(clients))]
    after, last = {}, [None] * len(clients)
    samples_of, counts = [], np.zeros((len(clients), case["classes"]))
    for u, client in enumerate(clients):
        mine = torch.tensor(client["samples"])
        labels = torch.tensor([case["labels"][i] for i in mine])
        outside = outside_domains([case["ranges"][i] for i in mine], case["classes"])
        samples_of.append((patches[mine], queries[mine], labels, outside))
        np.add.at(counts[u], labels.numpy(), 1)
    frame = frames(case, vit, states, samples_of)
    masses, mass_options = np.zeros_like(counts), case["merge"]["mass"]
    kind, rate = case["round"], case["optimizer"]["learning_rate"]
    for number, network in enumerate(case["rounds"]):
        before, trained, gradients = states, list(states), {}
        for u in network["active"]:
            masses[u] = np.maximum(counts[u], mass_options["decay"] * masses[u])
            own = {**case, "prompts": {**case["prompts"], "count": clients[u]["count"]}}
            samples, dropout = samples_of[u], inputs.get(f"dropout/{number + 1}/{u}")
            if kind == "update":
                trained[u] = train_client(vit, own, frame[u], states[u], samples, network["orders"][u], dropout)
                continue
            gradients[u] = gradient(vit, own, frame[u], states[u], samples, network["orders"][u][0], dropout)
            if kind == "d2":
                trained[u], last[u] = corrected(rate, states[u], gradients[u], last[u]), (states[u], gradients[u])
        weights = mixing_matrix(len(clients), network["links"])
        if kind == "d2":
            weights = lazy_where_needed(weights)
        states = [merge_client(case["merge"], u, trained, before[u][PROMPTS], weights[u], masses)
                  for u in range(len(clients))]
        masses = weights @ masses
        if kind == "dgd":
            for u, g in gradients.items():
                states[u] = {name: x - rate * g[name] for name, x in states[u].items()}
        for u, state in enumerate(states):
            after.update({f"{number + 1}/{u}/{name}": torch.tensor(values) for name, values in state.items()})
    for name in states[0]:
        if name not in (PROMPTS, KEYS):
            values = [state[name] for state in states]
            by_mass = case["merge"]["head"] == "class-mass" and name in class_rows(states[0])
            shares = class_weights(mass_options, np.full(len(states), 1 / len(states)), masses)
            after[f"network/{name}"] = torch.tensor(by_class(shares, values) if by_mass else np.mean(values, 0))
    return after


def main(folder):
    cases = json.loads((folder / "cases.json").read_text())
    pixels = preprocess(load(folder / "pictures.safetensors")["bytes"].numpy(), cases["image_size"], cases["patch_size"])
    vit = Vit(load(folder / "model.safetensors"), cases["federations"][0]["geometry"])
    patches = vit.embed(pixels)
    queries = vit.features(patches, torch.zeros(0, patches.shape[-1]))[:, 0]
    for case in cases["federations"]:
        inputs = load(folder / f"{case['name']}.safetensors")
        save(folder / f"{case['name']}-after.safetensors", federation(vit, case, inputs, patches, queries))


main(Path(sys.argv[1]))
