"""Small vision transformers with random weights: torchvision's own, and modules built as timm and Hugging Face build theirs."""

import json
from pathlib import Path

import torch
from torchvision.models.vision_transformer import VisionTransformer

WIDTH, HEADS, DEPTH, PATCH, SIDE, CLASSES = 64, 2, 2, 8, 32, 5


def save(path, tensors):
    header, offset, blobs = {}, 0, []
    for name, tensor in tensors.items():
        blob = tensor.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(len(text).to_bytes(8, "little") + text + b"".join(blobs))


def random_vit(path):
    """torchvision's, exported to `path`."""
    torch.manual_seed(3)
    vit = VisionTransformer(SIDE, PATCH, DEPTH, HEADS, WIDTH, 2 * WIDTH, num_classes=CLASSES).eval()
    with torch.no_grad():
        for parameter in vit.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.1)
        for module in vit.modules():
            if isinstance(module, torch.nn.LayerNorm):
                module.weight.add_(1.0)
    save(path, vit.state_dict())
    (Path(path).parent / "config.json").write_text(json.dumps({"num_attention_heads": HEADS}))
    return vit.requires_grad_(False)


def _attend(q, k, v):
    """[B, tokens, d] each."""
    def split(x):
        return x.unflatten(-1, (HEADS, -1)).transpose(1, 2)
    shares = ((split(q) @ split(k).transpose(-2, -1)) * (WIDTH // HEADS) ** -0.5).softmax(-1)
    return (shares @ split(v)).transpose(1, 2).flatten(-2)


class _Tree(torch.nn.Module):
    """Modules by the names that a family gives them."""

    def __init__(self, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)


def _linear(weight, bias):
    linear = torch.nn.Linear(weight.shape[1], weight.shape[0])
    linear.weight, linear.bias = (torch.nn.Parameter(values.detach().clone(), requires_grad=False) for values in (weight, bias))
    return linear


class _TimmPatches(_Tree):
    def forward(self, images):
        return self.proj(images).flatten(2).transpose(1, 2)


class _TimmAttention(_Tree):
    def forward(self, x):
        return self.proj(_attend(*self.qkv(x).chunk(3, -1)))


class _TimmMlp(_Tree):
    def forward(self, x):
        return self.fc2(torch.nn.functional.gelu(self.fc1(x)))


class _TimmBlock(_Tree):
    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


def _special(vit, distilled):
    """The positions, those of a second special token among them, and that token."""
    position = vit.encoder.pos_embedding
    if not distilled:
        return position, None
    torch.manual_seed(4)
    return (torch.nn.Parameter(torch.cat([position[:, :1], torch.randn(1, 1, WIDTH), position[:, 1:]], 1), requires_grad=False),
            torch.nn.Parameter(torch.randn(1, 1, WIDTH), requires_grad=False))


def _second_head():
    return _linear(torch.randn(CLASSES, WIDTH) * 0.1, torch.randn(CLASSES) * 0.1)


def as_timm(vit, distilled=False):
    """Parts and names as timm's VisionTransformer has them, and as its DeiT with a distillation token."""
    def block(layer):
        own = layer.self_attention
        return _TimmBlock(norm1=layer.ln_1, attn=_TimmAttention(qkv=_linear(own.in_proj_weight, own.in_proj_bias), proj=own.out_proj), norm2=layer.ln_2,
                          mlp=_TimmMlp(fc1=layer.mlp[0], fc2=layer.mlp[3]))
    position, token = _special(vit, distilled)
    more = {"dist_token": token, "head_dist": _second_head()} if distilled else {"norm_pre": torch.nn.Identity()}
    return _Tree(patch_embed=_TimmPatches(proj=vit.conv_proj), cls_token=vit.class_token, pos_embed=position, pos_drop=torch.nn.Dropout(0.5),
                 blocks=torch.nn.Sequential(*map(block, vit.encoder.layers)), norm=vit.encoder.ln, head=vit.heads.head, **more)


class _HuggingFacePatches(_Tree):
    def forward(self, pixel_values, interpolate_pos_encoding=False):
        return self.projection(pixel_values).flatten(2).transpose(1, 2)


class _HuggingFaceLayer(_Tree):
    """Answers with a tuple, as all of them did for years."""

    def forward(self, hidden_states, head_mask=None, output_attentions=False):
        x, own = self.layernorm_before(hidden_states), self.attention.attention
        x = hidden_states + self.attention.output.dense(_attend(own.query(x), own.key(x), own.value(x)))
        return (x + self.output.dense(torch.nn.functional.gelu(self.intermediate.dense(self.layernorm_after(x)))),)


def as_hugging_face(vit, distilled=False):
    """Parts and names as ViTForImageClassification has them, and as DeiTForImageClassificationWithTeacher."""
    def layer(block):
        own = block.self_attention
        parts = {name: _linear(w, b) for name, w, b in zip(("query", "key", "value"), own.in_proj_weight.chunk(3), own.in_proj_bias.chunk(3))}
        return _HuggingFaceLayer(attention=_Tree(attention=_Tree(**parts), output=_Tree(dense=own.out_proj)), intermediate=_Tree(dense=block.mlp[0]),
                                 output=_Tree(dense=block.mlp[3]), layernorm_before=block.ln_1, layernorm_after=block.ln_2)
    position, token = _special(vit, distilled)
    embeddings = _Tree(cls_token=vit.class_token, patch_embeddings=_HuggingFacePatches(projection=vit.conv_proj), position_embeddings=position,
                       **({"distillation_token": token} if distilled else {}))
    inner = _Tree(embeddings=embeddings, encoder=_Tree(layer=torch.nn.ModuleList(map(layer, vit.encoder.layers))), layernorm=vit.encoder.ln)
    if distilled:
        return _Tree(deit=inner, cls_classifier=vit.heads.head, distillation_classifier=_second_head())
    return _Tree(vit=inner, classifier=vit.heads.head)


def save_as_published(model, folder):
    """A folder as Hugging Face's hub has them: the state dict under the model's own names, and what it does not say."""
    folder.mkdir()
    save(folder / "model.safetensors", model.state_dict())
    known = {"architecture": "deit_tiny", "model_args": {"num_heads": HEADS}} if hasattr(model, "blocks") else {
        "num_attention_heads": HEADS, "layer_norm_eps": 1e-6, "hidden_act": "gelu"}
    (folder / "config.json").write_text(json.dumps(known))
    return folder
