"""Writes a prompt set as safetensors:  save_prompts.py FILE '[[0, 1], [2, 3]]' [TENSOR]"""

import json
import struct
import sys

path, rows = sys.argv[1], json.loads(sys.argv[2])
name = sys.argv[3] if len(sys.argv) > 3 else "prompt_embeddings"
data = b"".join(struct.pack("<f", value) for row in rows for value in row)
shape = [len(rows), len(rows[0])]
header = json.dumps({name: {"dtype": "F32", "shape": shape, "data_offsets": [0, len(data)]}}).encode()
with open(path, "wb") as file:
    file.write(struct.pack("<Q", len(header)) + header + data)
