"""Trains frost-mini: half of DeiT-Tiny's blocks at half of the picture size, distilled from DeiT-Tiny itself.

The teacher sees the very same changed picture, upscaled from 64 to 128 pixels, so that its 16 x 16 patches are the student's 8 x 8 ones
and every token of the teacher is a target for the token of the student at the same place, inside the network as well as at its end.
The learning rate follows the clock: the run ends after --minutes, on a fast machine with more pictures seen than on a slow one.
"""
import argparse
import math
import time

import torch
from torch.nn import functional

import pictures
from vit import MEAN, STD, VisionTransformer, read_safetensors, resized_positions, write_safetensors_bf16

TEACHER_SIZE = 128
KEPT_BLOCKS = (0, 2, 4, 6, 8, 10)     # of the teacher's twelve: where the student's six start
TARGET_BLOCKS = (1, 3, 5, 7, 9)       # the student's block i, the last aside, is to give what the teacher's block TARGET_BLOCKS[i] gives


def teacher_from(tensors):
    teacher = VisionTransformer(TEACHER_SIZE, 16, depth=12)
    tensors = dict(tensors, pos_embed=resized_positions(tensors["pos_embed"], TEACHER_SIZE // 16))
    teacher.load_state_dict(tensors)
    return teacher.eval().requires_grad_(False)


def halved_kernels(kernels):
    """The 8 x 8 kernels that give on a patch what the 16 x 16 ones give on the patch upscaled: the transposed upscaling."""
    width, colours, side, _ = kernels.shape
    pixels = torch.eye((side // 2) ** 2).view(-1, 1, side // 2, side // 2)
    upscaling = upscaled(pixels, side).view(len(pixels), side * side)
    return (kernels.view(width, colours, side * side) @ upscaling.T).view(width, colours, side // 2, side // 2)


def student_from(teacher, kept=KEPT_BLOCKS):
    """With all twelve blocks this would be the teacher, up to how the picture is upscaled."""
    student = VisionTransformer(depth=len(kept))
    own = {name: value for name, value in teacher.state_dict().items() if not name.startswith("blocks.")}
    own["patch_embed.proj.weight"] = halved_kernels(own["patch_embed.proj.weight"])
    student.load_state_dict(own, strict=False)
    for mine, its in zip(student.blocks, kept):
        mine.load_state_dict(teacher.blocks[its].state_dict())
    return student


def upscaled(x, side):
    return functional.interpolate(x, (side, side), mode="bilinear", align_corners=False)


def normalised(x):
    return (x - MEAN) / STD


def teach(teacher, x):
    with torch.no_grad():
        return teacher(normalised(upscaled(x, TEACHER_SIZE)), TARGET_BLOCKS)


class Loss:
    """Squared errors in units of the teacher's standard deviation per channel, and the divergence of the logits."""

    def __init__(self, teacher, x):
        tokens, _, hidden = teach(teacher, x)
        self.cls_scale = tokens[:, 0].std(0)
        self.patch_scale = tokens[:, 1:].std((0, 1))
        self.hidden_scales = [h.std((0, 1)) for h in hidden]

    def __call__(self, student, goal):
        (tokens, logits, hidden), (goal_tokens, goal_logits, goal_hidden) = student, goal
        parts = {
            "cls": ((tokens[:, 0] - goal_tokens[:, 0]) / self.cls_scale).square().mean(),
            "patches": ((tokens[:, 1:] - goal_tokens[:, 1:]) / self.patch_scale).square().mean(),
            "hidden": sum(((h - g) / s).square().mean() for h, g, s in zip(hidden, goal_hidden, self.hidden_scales)) / len(hidden),
            "logits": functional.kl_div(logits.log_softmax(-1), goal_logits.log_softmax(-1), reduction="batchmean", log_target=True),
        }
        return parts["cls"] + 0.5 * parts["patches"] + 0.5 * parts["hidden"] + 0.5 * parts["logits"], parts


def parameter_groups(student, decay):
    matrices = [p for p in student.parameters() if p.dim() > 1]
    vectors = [p for p in student.parameters() if p.dim() <= 1]
    return [{"params": matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}]


def learning_rate(peak, fraction_done):
    warm_up = 0.03
    if fraction_done < warm_up:
        return peak * fraction_done / warm_up
    return peak * 0.5 * (1 + math.cos(math.pi * (fraction_done - warm_up) / (1 - warm_up)))


def batches(data, size, generator):
    while True:
        for rows in torch.randperm(len(data), generator=generator).split(size):
            yield pictures.augmented(data[rows], generator)


def save(student, path, seen):
    write_safetensors_bf16(path, student.state_dict(), {"model": "frost-mini", "pictures_seen": str(seen)})


def train(options):
    torch.set_num_threads(options.threads)
    generator = torch.Generator().manual_seed(options.seed)
    torch.manual_seed(options.seed)
    data = pictures.load(options.pictures)
    teacher = teacher_from(read_safetensors(options.teacher))
    student = student_from(teacher)
    stream = batches(data, options.batch, generator)
    loss = Loss(teacher, torch.cat([next(stream) for _ in range(8)]))
    optimizer = torch.optim.AdamW(parameter_groups(student, options.decay), lr=0.0, betas=(0.9, 0.98))
    print(f"{len(data)} pictures", flush=True)

    start, saved, seen, sums = time.time(), time.time(), 0, {}
    while (elapsed := time.time() - start) < 60 * options.minutes:
        x = next(stream)
        total, parts = loss(student(normalised(x), range(len(TARGET_BLOCKS))), teach(teacher, x))
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(options.rate, elapsed / (60 * options.minutes))
        optimizer.zero_grad(set_to_none=True)
        total.backward()
        torch.nn.utils.clip_grad_norm_(student.parameters(), 5.0)
        optimizer.step()

        seen += len(x)
        sums = {name: sums.get(name, 0.0) + float(part.detach()) for name, part in parts.items()}
        if seen // options.batch % 50 == 0:
            figures = "  ".join(f"{name} {value / 50:.3f}" for name, value in sums.items())
            print(f"{elapsed / 60:6.1f} min  {seen:7d} pictures  {seen / elapsed:5.1f}/s  {figures}", flush=True)
            sums = {}
        if time.time() - saved > 300:
            save(student, options.out, seen)
            saved = time.time()
    save(student, options.out, seen)
    print(f"{options.out}: {seen} pictures seen", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--teacher", required=True, help="DeiT-Tiny, timm names, safetensors")
    parser.add_argument("--pictures", required=True, help="tar archive of Tiny ImageNet's training JPEGs")
    parser.add_argument("--out", required=True, help="written every five minutes and at the end")
    parser.add_argument("--minutes", type=float, default=65)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=5e-4)
    parser.add_argument("--decay", type=float, default=0.02)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
