"""Whole federations written independently in PyTorch and NumPy, in double, from the pictures' bytes on.

    federation_oracle.py FOLDER

FOLDER/cases.json lists them, FOLDER/model.safetensors is the frozen model, FOLDER/pictures.safetensors the training
pictures. Of a case FOLDER/NAME.safetensors holds what is drawn at random and so cannot be recomputed: the clients' first
values ("CLIENT/PART") and dropout factors ("dropout/ROUND/CLIENT"); data orders, partition and links are in its entry of
cases.json; where [privacy] adds noise, FOLDER/NAME-noise.safetensors holds the normal numbers that it is made of
("ROUND/CLIENT", steps by values). What every client holds after every round goes to FOLDER/NAME-after.safetensors ("ROUND/CLIENT/PART"), and the
network model's head beside it ("network/PART").
"""
import json
import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from scipy.integrate import solve_ivp

for folder in ("base", "merge", "train"):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / folder))
from pfpt_oracle import aggregate  # noqa: E402
from random_stream import RandomStream  # noqa: E402
from oracle import (Vit, batch_features, batch_loss, head_inputs, load, logits_of, make_optimizer_of,  # noqa: E402
                    outside_domains, save, sides_of, train)

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


def merge_seed(case, node, number):
    return RandomStream(case["seed"], "merge", node, number).next()


def pass_on(pool, others, own, limit):
    """Own prompts, then what the others have first, second …, then what was kept before; each once; as many as fit."""
    rows = [row for row in pool[:own]]
    for rank in range(max(map(len, others))):
        rows += [other[rank] for other in others if rank < len(other)]
    rows += [row for row in pool[own:]]
    kept = []
    for row in rows:
        if len(kept) < own or not any(np.array_equal(row, other) for other in kept):
            kept.append(row)
    return np.stack(kept[: limit or None])


def most_used(pool, places, limit):
    """A pool cut to those that most senders use, in their order."""
    if not limit or len(pool) <= limit:
        return pool
    uses = np.bincount(sum(places, []), minlength=len(pool))
    return pool[sorted(sorted(range(len(pool)), key=lambda i: (-uses[i], i))[:limit])]


def grow_client(case, u, number, trained, sent, weights):
    """As merge_client, where pools grow: `sent` are the prompts that travel."""
    options = case["merge"]
    neighbours = [v for v in range(len(trained)) if v != u and weights[v] > 0]
    if not neighbours:
        return trained[u]
    if options["pool"] == "pass-on":
        pool = pass_on(sent[u], [sent[v] for v in neighbours], case["prompts"]["count"], options["pool_limit"])
    else:
        pool = most_used(*aggregate([sent[v] for v in [u, *neighbours]], options["pool_passes"], options["pool_rate"],
                                    merge_seed(case, u, number)), options["pool_limit"])
    merged = {name: sum(weights[v] * trained[v][name] for v in [u, *neighbours]) if name != PROMPTS else pool
              for name in trained[u]}
    return merged if options["head"] == "average" else {**trained[u], PROMPTS: pool}


def serve(case, states, links, number, train_one):
    """A round around a server, the last node: all states afterwards."""
    options, states, sent, server = case["merge"], list(states), {}, len(states) - 1
    shared = [name for name in states[server] if name in (PROMPTS, KEYS) or options["head"] == "average"]
    reached = sorted(client for client, _ in links)
    for u in reached:
        states[u], sent[u] = train_one(u, {**states[u], **{name: states[server][name] for name in shared}})
    if not reached:
        return states
    pictures = np.array([len(case["clients"][u]["samples"]) for u in reached], float)
    weights = pictures / pictures.sum()
    merged = {name: sum(w * states[u][name] for w, u in zip(weights, reached)) for name in shared if name != PROMPTS}
    if options["pool"] == "pfpt":
        merged[PROMPTS] = most_used(*aggregate([sent[u] for u in reached], options["pool_passes"], options["pool_rate"],
                                               merge_seed(case, server, number)), options["pool_limit"])
    elif options["kind"] == "ot":
        shares = weights if options["weights"] == "mixing" else np.full(len(reached), 1 / len(reached))
        merged[PROMPTS], _ = transport_merge(options, [sent[u] for u in reached], shares, states[server][PROMPTS])
    else:
        merged[PROMPTS] = sum(w * sent[u] for w, u in zip(weights, reached))
    states[server] = {**states[server], **merged}
    return states


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


def prompt_shares(options, row, masses):
    """What every sender's prompts weigh: by all pictures behind it, or as in the mixing matrix, or alike."""
    if options["weights"] == "mass":
        pictures = (options["mass"]["floor"] + masses).sum(1, keepdims=True)
        return class_weights({**options["mass"], "floor": 0}, row, pictures)[:, 0]
    alike = options["kind"] == "ot" and options["weights"] == "equal"
    return np.full(len(row), 1 / len(row)) if alike else row


def merge_client(options, u, trained, previous, weights, masses):
    """What client u holds after the exchange; `weights` is its row of the mixing matrix."""
    senders = [u] + [v for v in range(len(trained)) if v != u and weights[v] > 0]
    own = trained[u]
    if len(senders) == 1:
        return own
    row = weights[senders]
    shares = prompt_shares(options, row, None if masses is None else masses[senders])
    with_prompts = (PROMPTS, KEYS) if options["weights"] == "mass" else (PROMPTS,)
    merged = {}
    if options["kind"] == "ot":
        start = previous if options["init"] == "previous" else own[PROMPTS]
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
            weighing = shares if name in with_prompts else row
            merged[name] = sum(w * trained[v][name] for w, v in zip(weighing, senders))
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


def triangle(values):
    """The symmetric matrix whose lower triangle is given, row by row."""
    size = int(np.sqrt(2 * len(values)))
    lower = np.zeros((size, size))
    lower[np.tril_indices(size)] = values
    return lower + lower.T - np.diag(np.diag(lower))


def factorized(options, mean, covariance):
    factor = np.eye(len(mean))
    if options["coordinates"] == "whitened":
        factor = np.linalg.cholesky(covariance + options["shrinkage"] * np.trace(covariance) / len(mean) * factor)
    return mean, factor


def frames(case, vit, states, samples):
    """Mean and factor of every client's moments after mixing; of centred coordinates the factor is the unit matrix."""
    options = case["frame_options"]
    if options["coordinates"] == "raw":
        return [None] * len(states)
    if options["moments"] == "backbone":
        return [factorized(options, np.array(options["given"]["mean"]), triangle(options["given"]["covariance"]))] * len(states)
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
    return [factorized(options, total / count, products / count - np.outer(total, total) / count**2) for count, total, products in moments]


def in_frame(case, frame):
    return {**case, "frame": None if frame is None else tuple(torch.tensor(part) for part in frame)}


def as_parts(case, state, normals):
    """A row of normal numbers for each part of a state, in its layout's order."""
    parts, first = {}, 0
    for name in case["parts"]:
        size = state[name].size if isinstance(state[name], np.ndarray) else state[name].numel()
        parts[name] = normals[first : first + size].reshape(state[name].shape)
        first += size
    return parts


def clipped(gradients, clip):
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    return [g * min(1, clip / norm) for g in gradients]


def private_train(vit, case, state, samples, batches, normals, dropout):
    """DP-SGD or its like, by one backward pass for each picture. batches: of all epochs, as many in each."""
    prompts, head = sides_of(state)
    options, pictures, start = case["privacy"], len(samples[2]), [p.detach().clone() for p in prompts]
    optimizer = make_optimizer_of(case, state)
    expected = max(1, min(1, case["batch"] / pictures) * pictures)
    in_epoch = -(-pictures // case["batch"])
    for number, batch in enumerate(batches):
        moves = number // in_epoch < case["prompt_epochs"]
        trained = {name: p for name, p in state.items() if moves or name.startswith("head.")}
        total = [torch.zeros_like(p) for p in trained.values()]
        for row, picture in enumerate(batch):
            mask = None if dropout is None else dropout[number, row : row + 1]
            loss = batch_loss(vit, case, state, samples, [picture], mask)
            own = clipped(torch.autograd.grad(loss, list(trained.values())), options["clip"])
            total = [t + g for t, g in zip(total, own)]
        noise = as_parts(case, state, normals[number])
        optimizer.zero_grad()
        for (name, p), t in zip(trained.items(), total):
            p.grad = (t + options["noise"] * options["clip"] * noise[name]) / expected
        for p, p0 in zip(prompts, start):
            p.grad = p.grad + case["prompt_pull"] * (p.detach() - p0) if moves else None
        optimizer.step()


def protected(case, before, after, normals):
    """What a client that is protected as a whole has and sends."""
    noise = as_parts(case, before, normals[0].numpy())
    norm = np.sqrt(sum(((after[name] - before[name]) ** 2).sum() for name in before))
    clip = case["privacy"]["clip"]
    return {name: before[name] + min(1, clip / norm) * (after[name] - before[name])
            + case["privacy"]["noise"] * clip * noise[name] for name in before}


def train_client(vit, case, frame, values, samples, network, u, dropout, normals):
    state = {name: torch.tensor(value).requires_grad_() for name, value in enter(frame, values).items()}
    if case["privacy"]["kind"] == "examples":
        private_train(vit, in_frame(case, frame), state, samples, network["private_batches"][u], normals, dropout)
    else:
        train(vit, in_frame(case, frame), state, samples, network["orders"][u], dropout)
    trained = leave(frame, {name: tensor.detach().numpy() for name, tensor in state.items()})
    return protected(case, values, trained, normals) if case["privacy"]["kind"] == "client" else trained


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


class Pixels:
    """In place of a Vit: the feature of a picture is its grey pixels, and prompts do nothing."""

    def features(self, grey, _):
        return grey[:, None]


def tangent(vit, case, values, samples):
    """Outputs [pictures, classes] and their Jacobian [pictures, classes, weights of the head] by autograd."""
    state = {name: torch.tensor(value) for name, value in values.items()}
    features, _ = batch_features(vit, case, state, samples, torch.arange(len(samples[0])))
    names = [name for name in state if name.startswith("head.")]

    def outputs(*head):
        return logits_of(case, vit, {**state, **dict(zip(names, head))}, features, None)

    head = tuple(state[name] for name in names)
    parts = torch.autograd.functional.jacobian(outputs, head)
    return outputs(*head).numpy(), torch.cat([part.flatten(2) for part in parts], 2).numpy(), names


def evolve(case, number, f0, jacobian, labels, outside):
    """By how much the head's weights change: scipy solves for the outputs, under the dense kernel."""
    pictures, classes = f0.shape
    kernel = np.einsum("icp,jcp->ij", jacobian, jacobian, optimize=True) / classes
    rate = case["ntk"]["rate"] * np.exp(-case["ntk"]["decay"] * number)

    def shares(f):
        f = np.where(outside, -np.inf, f.reshape(f0.shape))
        e = np.exp(f - f.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    def residual(f):
        return shares(f) - np.eye(classes)[labels]

    times = rate * np.arange(case["ntk"]["steps"][-1] + 1)
    solved = solve_ivp(lambda _, f: (-kernel @ residual(f) / pictures).ravel(), (0, times[-1]), f0.ravel(),
                       t_eval=times, rtol=1e-10, atol=1e-12)
    losses = {n: -np.log(shares(solved.y[:, n])[np.arange(pictures), labels]).mean() for n in case["ntk"]["steps"]}
    best = min(losses, key=losses.get)
    return -rate / pictures * np.einsum("icp,ic->p", jacobian, sum(residual(solved.y[:, n]) for n in range(best)))


def kernel_round(vit, case, states, links, number, active, samples_of, train_one):
    """States afterwards: an average of heads, all senders alike, then a step along the neighbourhood's kernel."""
    trained, averaged = list(states), list(states)
    near = {u: [u] + sorted(b if a == u else a for a, b in links if u in (a, b)) for u in range(len(states))}
    moves_prompts = case["ntk"]["prompts"] == "trained"
    for u in active if moves_prompts else ():
        trained[u], _ = train_one(u, states[u])
    for u in active:
        alike = np.zeros(len(states))
        alike[near[u]] = 1 / len(near[u])
        if moves_prompts:
            averaged[u] = merge_client(case["merge"], u, trained, trained[u][PROMPTS], alike, None)
        elif case["merge"]["head"] != "own":
            averaged[u] = {name: sum(alike[v] * trained[v][name] for v in near[u]) if name.startswith("head.") else own
                           for name, own in trained[u].items()}
    after = list(averaged)
    for u in active:
        # Each neighbour at u's weights and prompts, of which it sees as many as u does.
        here = {**case, "prompts": {**case["prompts"], "count": case["clients"][u]["count"]}}
        outputs, jacobians, names = zip(*(tangent(vit, here, averaged[u], samples_of[v]) for v in near[u]))
        labels = np.concatenate([samples_of[v][2] for v in near[u]])
        outside = np.concatenate([samples_of[v][3] for v in near[u]])
        if case["mask"] == "none":
            outside = np.zeros_like(outside)
        change = evolve(case, number, np.concatenate(outputs), np.concatenate(jacobians), labels, outside)
        sizes = np.cumsum([averaged[u][name].size for name in names[0]])[:-1]
        after[u] = {**averaged[u], **{name: averaged[u][name] + part.reshape(averaged[u][name].shape)
                                      for name, part in zip(names[0], np.split(change, sizes))}}
    return after


def federation(vit, case, inputs, patches, queries):
    clients = case["clients"]
    states = [{name.split("/")[1]: t.numpy() for name, t in inputs.items() if name.startswith(f"{u}/")}
              for u in range(len(clients) + case["server"])]
    after, last = {}, [None] * len(clients)
    samples_of, counts = [], np.zeros((len(clients), case["classes"]))
    for u, client in enumerate(clients):
        mine = torch.tensor(client["samples"])
        labels = torch.tensor([case["labels"][i] for i in mine])
        outside = outside_domains([case["ranges"][i] for i in mine], case["classes"])
        samples_of.append((patches[mine], queries[mine], labels, outside))
        np.add.at(counts[u], labels.numpy(), 1)
    frame = frames(case, vit, states[: len(clients)], samples_of)
    masses, mass_options = np.zeros_like(counts), case["merge"]["mass"]
    kind, rate = case["round"], case["optimizer"]["learning_rate"]

    def remember(number):
        for u, state in enumerate(states):
            after.update({f"{number + 1}/{u}/{name}": torch.tensor(values) for name, values in state.items()})

    def work_of(u, number):
        """The client's own options and dropout."""
        own = {**case, "prompts": {**case["prompts"], "count": clients[u]["count"], "used": set()}}
        return own, inputs.get(f"dropout/{number + 1}/{u}")

    def train_one(u, state, number, network):
        """What the client then holds, and which of its prompts travel."""
        own, dropout = work_of(u, number)
        state = train_client(vit, own, frame[u], state, samples_of[u], network, u, dropout,
                             inputs.get(f"noise/{number + 1}/{u}"))
        chosen = sorted(own["prompts"]["used"]) if case["merge"]["pool"] == "pfpt" else slice(None)
        return state, state[PROMPTS][chosen] if PROMPTS in state else None

    for number, network in enumerate(case["rounds"]):
        if case["server"]:
            states = serve(case, states, network["links"], number + 1,
                           lambda u, state: train_one(u, state, number, network))
            remember(number)
            continue
        if kind == "ntk":
            states = kernel_round(vit, case, states, network["links"], number, network["active"], samples_of,
                                  lambda u, state: train_one(u, state, number, network))
            remember(number)
            continue
        before, trained, gradients = states, list(states), {}
        sent = [state.get(PROMPTS) for state in states]
        for u in network["active"]:
            masses[u] = np.maximum(counts[u], mass_options["decay"] * masses[u])
            if kind == "update":
                trained[u], sent[u] = train_one(u, states[u], number, network)
                continue
            own, dropout = work_of(u, number)
            gradients[u] = gradient(vit, own, frame[u], states[u], samples_of[u], network["orders"][u][0], dropout)
            if kind == "d2":
                trained[u], last[u] = corrected(rate, states[u], gradients[u], last[u]), (states[u], gradients[u])
        weights = mixing_matrix(len(clients), network["links"])
        if kind == "d2":
            weights = lazy_where_needed(weights)
        if case["merge"]["pool"] == "fixed":
            states = [merge_client(case["merge"], u, trained, before[u].get(PROMPTS), weights[u], masses)
                      for u in range(len(clients))]
        else:
            states = [grow_client(case, u, number + 1, trained, sent, weights[u]) for u in range(len(clients))]
        masses = weights @ masses
        if kind == "dgd":
            for u, g in gradients.items():
                states[u] = {name: x - rate * g[name] for name, x in states[u].items()}
        remember(number)
    for name in states[0]:
        if case["server"] and (name in (PROMPTS, KEYS) or case["merge"]["head"] == "average"):
            after[f"network/{name}"] = torch.tensor(states[-1][name])
        elif name not in (PROMPTS, KEYS):
            values = [state[name] for state in states[: len(clients)]]
            by_mass = case["merge"]["head"] == "class-mass" and name in class_rows(states[0])
            shares = class_weights(mass_options, np.full(len(clients), 1 / len(clients)), masses)
            after[f"network/{name}"] = torch.tensor(by_class(shares, values) if by_mass else np.mean(values, 0))
    return after


def main(folder):
    cases = json.loads((folder / "cases.json").read_text())
    pictures = load(folder / "pictures.safetensors")["bytes"].numpy()
    pixels = preprocess(pictures, cases["image_size"], cases["patch_size"])
    vit = Vit(load(folder / "model.safetensors"), cases["federations"][0]["geometry"])
    patches = vit.embed(pixels)
    queries = vit.features(patches, torch.zeros(0, patches.shape[-1]))[:, 0]
    grey = torch.tensor(pictures.mean(3).reshape(len(pictures), -1) / 255)
    for case in cases["federations"]:
        inputs = load(folder / f"{case['name']}.safetensors")
        if case["privacy"]["kind"] != "none":
            noise = load(folder / f"{case['name']}-noise.safetensors")
            inputs.update({f"noise/{name}": tensor for name, tensor in noise.items()})
        model, seen = (Pixels(), grey) if case["pixels"] else (vit, patches)
        save(folder / f"{case['name']}-after.safetensors", federation(model, case, inputs, seen, queries))


main(Path(sys.argv[1]))
