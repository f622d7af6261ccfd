"""Export a graph for onnxruntime and others: flat ids and offsets in, vectors out. Code in its README.md makes the ids.

A mean is a Loop that gathers and sums one sentence at a time. Measured in onnxruntime 1.31 at 1024 dimensions on one
core: 85,000 sentences/s in batches of 64, 75,000 in batches of 2,048. One ScatterND for all sentences (117,000 and
50,000) gives wrong sums as soon as onnxruntime has two threads, because they add into the same row.

An LSTM reads all sentences of a call together, padded to the longest. A combination has inputs for each of its parts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from psp.core.errors import PspError
from psp.core.files import atomic, new_folder
from psp.models.combined import ADD, CombinedModel, parts_of
from psp.models.exports.common import library, readme, rows
from psp.models.lstm import BOTH, CONCAT, MAX, Lstm
from psp.models.static import unknown_alone
from psp.models.text_model import TextModel

OPSET, IR = 18, 9
LARGEST = 2**31 - 2**20  # bytes; protobuf's limit

# For the README.md, after the code that makes all ids of a text (psp.text.tokenizer.Example).
_KEPT = """    found = [i for i in found if {keep}]
    return found if {meant} else []  # not of marks between words alone
"""
_UNKNOWN_ALONE = "    return [i for i in found if {keep}] or [{unknown}] * bool(found)\n"
_BY_PSP = """
import onnxruntime, psp

session = onnxruntime.InferenceSession("model.onnx")
model = psp.load_model("the/model/itself")  # nobody has written its tokenizer without psp
texts = ["a red car", "une voiture rouge"]
inputs = {{}}
for end, part in {{{parts}}}.items():
    inputs["ids" + end], inputs["offsets" + end] = part.ids(texts)
(vectors,) = session.run(None, inputs)
"""
_RUN = """
session = onnxruntime.InferenceSession("model.onnx")
texts = ["a red car", "une voiture rouge"]
inputs = {{}}
for end, read in {{{readers}}}.items():
    found = [read(text) for text in texts]
    inputs["ids" + end] = np.array([i for text in found for i in text], np.int64)
    inputs["offsets" + end] = np.cumsum([0] + [len(text) for text in found], dtype=np.int64)
(vectors,) = session.run(None, inputs)
"""


def write(model: TextModel, out: Path, sentences: Sequence[str]) -> str:
    """Write the folder; see :func:`psp.models.exports.export`. ``sentences`` is unused: the graph has no tokenizer.

    Raises:
        PspError: the matrices are too large for an ONNX file.
    """
    parts = parts_of(model)
    size = sum(4 * part.table.values.size + (part.contextual.nbytes if part.contextual else 0) for part in parts)
    if size > LARGEST:
        raise PspError(f"an embedding matrix of {size:,} bytes does not fit into an ONNX file, which holds {LARGEST:,}")
    contents = {"model.onnx": graph(model).SerializeToString()}
    for end, part in zip(_ends(model), parts, strict=True):
        contents |= {_file(end, name): content for name, content in part.tokenizer.contents().items()}
    each = " of each part" if len(parts) > 1 else ""
    usage = (
        f"Inputs{each}: ids, int64; offsets, int64, rising from 0 to the number of ids, one more than there are "
        "sentences. Output: vectors, float32. "
    )
    usage += "psp's StaticModel.ids gives both inputs." if not each else "psp's StaticModel.ids of a part gives both."
    if any(part.config.get("segment") for part in parts):
        usage += " Chinese text is segmented before it is lower-cased: the lines above do not do so."
    if any(part.contextual for part in parts):
        usage += " All sentences of a call are padded to the longest: put those of similar length together."
    with new_folder(out) as folder:
        for name, content in contents.items():
            with atomic(folder / name) as temporary:
                temporary.write_bytes(content)
        readme(folder, model, _code(model), usage)
    return usage


def _ends(model: TextModel) -> list[str]:
    """The suffix of the names of each part's inputs."""
    return [f"_{number}" for number in range(len(model.parts))] if isinstance(model, CombinedModel) else [""]


def _file(end: str, name: str) -> str:
    """The name of a part's file, as in a combination's folder."""
    return f"{end[1:]}.{name}" if end else name


def _code(model: TextModel) -> str:
    """Example code that loads the graph, and makes ids without psp."""
    parts, ends = parts_of(model), _ends(model)
    imports, code = ["onnxruntime"], ""
    for end, part in zip(ends, parts, strict=True):
        tokenizer = part.tokenizer
        if (example := tokenizer.example()) is None:
            expressions = [f"model.parts[{number}]" for number in range(len(parts))] if len(parts) > 1 else ["model"]
            return _BY_PSP.format(
                parts=", ".join(f'"{end}": {one}' for end, one in zip(ends, expressions, strict=True))
            )
        imports += example.imports
        code += example.code.format(end=end, file=_file(end, tokenizer.file))
        dropped = sorted({tokenizer.unknown_id, *tokenizer.excluded_ids})
        keep = f"i not in {{{', '.join(map(str, dropped))}}}" if len(dropped) > 1 else f"i != {dropped[0]}"
        if unknown_alone(part.config):
            code += _UNKNOWN_ALONE.format(keep=keep, unknown=tokenizer.unknown_id)
        elif silent := sorted({*tokenizer.silent_ids} - {*dropped}):
            code += _KEPT.format(keep=keep, meant=f"set(found) - {{{', '.join(map(str, silent))}}}")
        else:
            code += f"    return [i for i in found if {keep}]\n"
    code += _RUN.format(readers=", ".join(f'"{end}": ids{end}' for end in ends))
    plain = sorted({name for name in imports if name in ("re", "unicodedata")})
    others = sorted({name for name in imports if name not in plain})
    return "".join(f"import {name}\n" for name in plain) + f"import numpy as np, {', '.join(others)}\n{code}"


def graph(model: TextModel) -> Any:
    """Build the ``onnx.ModelProto`` of a model: its inputs are ``ids`` and ``offsets``, its output ``vectors``.

    Those of a combination are ``ids_0`` and ``offsets_0``, ``ids_1`` and ``offsets_1``, and so on.
    """
    made = _Graph()
    outputs = []
    for end, part in zip(_ends(model), parts_of(model), strict=True):
        ids = made.input(f"ids{end}", f"pieces{end}")
        offsets = made.input(f"offsets{end}", "edges")
        table = made.constant(rows(part), f"table{end}")
        if part.contextual is None:
            outputs.append(_mean(made, ids, offsets, table, part.table.dim))
        else:
            outputs.append(_lstm(made, ids, offsets, table, part.contextual))
    if isinstance(model, CombinedModel) and model.joined_by == ADD:
        made("Sum", *outputs, output="vectors")
    elif isinstance(model, CombinedModel):
        if model.scaled:
            outputs = [_scaled(made, one, weight) for one, weight in zip(outputs, model.weights, strict=True)]
        made("Concat", *outputs, output="vectors", axis=1)
    else:
        made("Identity", *outputs, output="vectors")
    return made.model(model.dim)


class _Graph:
    """A graph in the making: a call adds a node, and returns the name of its output."""

    def __init__(self) -> None:
        onnx = library("onnx")
        self._onnx, self.helper = onnx, onnx.helper
        kinds = onnx.TensorProto
        self.integer, self.int32, self.real, self.boolean = kinds.INT64, kinds.INT32, kinds.FLOAT, kinds.BOOL
        self._nodes: list[Any] = []
        self._inputs: list[Any] = []
        self._constants: dict[str, Any] = {}
        self._names = 0

    def name(self) -> str:
        """A name that is not used yet."""
        self._names += 1
        return f"n{self._names}"

    def input(self, name: str, length: str) -> str:
        """Add an input, int64 (length,)."""
        self._inputs.append(self.helper.make_tensor_value_info(name, self.integer, [length]))
        return name

    def constant(self, value: Any, name: str | None = None) -> str:
        """Add a constant: int64, unless it is an array, which keeps its type."""
        array = value if isinstance(value, np.ndarray) else np.array(value, np.int64)
        name = name or self.name()
        self._constants[name] = self._onnx.numpy_helper.from_array(
            np.ascontiguousarray(array).reshape(array.shape), name
        )
        return name

    def number(self, value: float) -> str:
        """Add a constant, float32 ()."""
        return self.constant(np.array(value, np.float32))

    def __call__(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        output = output or self.name()
        self._nodes.append(self.helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def model(self, dim: int) -> Any:
        """The model, whose output is ``vectors``, float32 (sentences, dim)."""
        made = self.helper.make_graph(
            self._nodes,
            "psp",
            self._inputs,
            [self.helper.make_tensor_value_info("vectors", self.real, ["sentences", dim])],
            list(self._constants.values()),
        )
        opset = self.helper.make_opsetid("", OPSET)
        model = self.helper.make_model(made, opset_imports=[opset], ir_version=IR, producer_name="psp")
        self._onnx.checker.check_model(model)
        return model


def _mean(g: _Graph, ids: str, offsets: str, table: str, dim: int) -> str:
    """The means of rows, (sentences, dim); zeros for a sentence without ids."""
    first, second, last, end = (g.constant([number]) for number in (0, 1, -1, 2**62))
    starts = g("Slice", offsets, first, last, first)
    stops = g("Slice", offsets, second, end, first)
    value, node = g.helper.make_tensor_value_info, g.helper.make_node
    i, go, on, total, start, stop, start1, stop1, own, vectors = (g.name() for _ in range(10))
    body = g.helper.make_graph(
        [
            node("Gather", [starts, i], [start]),
            node("Gather", [stops, i], [stop]),
            node("Unsqueeze", [start, first], [start1]),
            node("Unsqueeze", [stop, first], [stop1]),
            node("Slice", [ids, start1, stop1, first], [own]),
            node("Gather", [table, own], [vectors]),
            node("ReduceSum", [vectors, first], [total], keepdims=0),
            node("Identity", [go], [on]),
        ],
        "sentence",
        [value(i, g.integer, []), value(go, g.boolean, [])],
        [value(on, g.boolean, []), value(total, g.real, [dim])],
    )
    sums = g("Loop", g("Size", starts), "", body=body)
    divisors = g("Max", g("Sub", stops, starts), g.constant(1))
    return g("Div", sums, g("Unsqueeze", g("Cast", divisors, to=g.real), second))


def _lstm(g: _Graph, ids: str, offsets: str, table: str, own: Lstm) -> str:
    """The vectors that an LSTM makes, (sentences, dim); zeros for a sentence without ids.

    One more sentence without ids is read at the end, and one more id, so that no axis is ever empty; a sentence without
    ids is read as one with a single id, whose states are left out.
    """
    first, second, last, end = (g.constant([number]) for number in (0, 1, -1, 2**62))
    zero, one = g.constant(0), g.constant(1)
    stops = g("Concat", g("Slice", offsets, second, end, first), g("Slice", offsets, last, end, first), axis=0)
    lengths = g("Sub", stops, offsets)  # (n,), n being the sentences and one more
    read = g("Max", lengths, one)
    steps = g("Unsqueeze", g("Range", zero, g("ReduceMax", read, first, keepdims=0), one), second)  # (longest, 1)
    places = g("Min", g("Add", steps, g("Unsqueeze", offsets, first)), g("Size", ids))  # (longest, n)
    inputs = g("Gather", table, g("Gather", g("Concat", ids, first, axis=0), places))
    matrices = [
        np.stack([_gates(getattr(direction, name)) for direction in own.directions]) for name in ("input", "hidden")
    ]
    bias = np.stack([np.concatenate([_gates(direction.bias), 0 * direction.bias]) for direction in own.directions])
    states = g(
        "LSTM", inputs, *map(g.constant, (*matrices, bias)), g("Cast", read, to=g.int32),
        direction="bidirectional" if own.kind == BOTH else "forward", hidden_size=own.width,
    )  # (longest, directions, n, width)  # fmt: skip
    if own.kind == BOTH and own.combine == CONCAT:
        shape = g.constant([0, 0, 2 * own.width])  # zero keeps an axis as it is
        states = g("Reshape", g("Transpose", states, perm=[0, 2, 1, 3]), shape)
    else:
        states = g("ReduceMean", states, second, keepdims=0)
    inside = g("Unsqueeze", g("Less", steps, g("Unsqueeze", lengths, first)), g.constant([2]))
    if own.pooling == MAX:
        largest = g("ReduceMax", g("Where", inside, states, g.number(-2)), first, keepdims=0)  # no state is below -1
        there = g("Unsqueeze", g("Greater", lengths, zero), second)
        vectors = g("Where", there, largest, g.number(0))
    else:
        sums = g("ReduceSum", g("Where", inside, states, g.number(0)), first, keepdims=0)
        vectors = g("Div", sums, g("Unsqueeze", g("Cast", read, to=g.real), second))
    return g("Slice", vectors, first, last, first)


def _gates(matrix: np.ndarray) -> np.ndarray:
    """Rows of the input, forget, cell and output gates in ONNX's order: input, output, forget, cell."""
    enter, forget, cell, leave = np.split(matrix, 4)
    return np.concatenate([enter, leave, forget, cell])


def _scaled(g: _Graph, vectors: str, weight: float) -> str:
    """Vectors at the length that they have in a combination; zeros stay zeros."""

    def divided(by: str) -> str:
        return g("Div", vectors, g("Where", g("Greater", by, g.number(0)), by, g.number(1)))

    dimensions = g.constant([1])
    # By the largest number first, so that no square over- or underflows.
    vectors = divided(g("ReduceMax", g("Abs", vectors), dimensions))
    vectors = divided(g("ReduceL2", vectors, dimensions))
    return g("Mul", vectors, g.number(math.sqrt(weight)))
