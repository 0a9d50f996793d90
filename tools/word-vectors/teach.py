"""Writes what a sentence encoder says of each text, as rows of little-endian floats.

    pip install numpy onnxruntime tokenizers
    python teach.py MODEL.onnx TOKENIZER.json < texts.ndjson > targets.f32
"""

import json
import sys

import numpy
import onnxruntime
import tokenizers

MOST_TOKENS = 32
AT_ONCE = 128

session = onnxruntime.InferenceSession(sys.argv[1])
tokenizer = tokenizers.Tokenizer.from_file(sys.argv[2])
tokenizer.no_padding()
tokenizer.enable_truncation(MOST_TOKENS)
inputs = {given.name for given in session.get_inputs()}


def encode(texts):
    """The mean over the tokens, of length one."""
    encoded = tokenizer.encode_batch(texts)
    longest = max(len(one.ids) for one in encoded)
    ids = numpy.array([one.ids + [0] * (longest - len(one.ids)) for one in encoded], numpy.int64)
    mask = numpy.array([[1] * len(one.ids) + [0] * (longest - len(one.ids)) for one in encoded], numpy.int64)
    given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
    states = session.run(None, {name: value for name, value in given.items() if name in inputs})[0]
    means = (states * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
    return means / numpy.linalg.norm(means, axis=1, keepdims=True)


texts = [json.loads(line) for line in sys.stdin]
for start in range(0, len(texts), 2_000):
    batch = texts[start : start + 2_000]
    rows = numpy.zeros((len(batch), 384), "<f4")
    # Texts of one length together: padding would be most of the work.
    order = sorted(range(len(batch)), key=lambda index: len(batch[index]))
    for at in range(0, len(order), AT_ONCE):
        chosen = order[at : at + AT_ONCE]
        rows[chosen] = encode([batch[index] for index in chosen])
    sys.stdout.buffer.write(rows.tobytes())
    print(f"{start + len(batch)} of {len(texts)}", file=sys.stderr)
