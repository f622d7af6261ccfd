"""Export a graph for onnxruntime and others: flat ids and offsets in, vectors out. Sentencepiece turns text into ids.

A Loop gathers and sums one sentence at a time. Measured in onnxruntime 1.31 at 1024 dimensions on one core: 85,000
sentences/s in batches of 64, 75,000 in batches of 2,048. One ScatterND for all sentences (117,000 and 50,000) gives
wrong sums as soon as onnxruntime has two threads, because they add into the same row.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from psp.core.errors import PspError
from psp.core.files import atomic, new_folder
from psp.models.exports.common import library, readme, rows
from psp.models.files import SENTENCEPIECE
from psp.models.static import StaticModel

OPSET, IR = 18, 9
LARGEST = 2**31 - 2**20  # bytes; protobuf's limit
CODE = """
import numpy as np, onnxruntime, sentencepiece

session = onnxruntime.InferenceSession("model.onnx")
processor = sentencepiece.SentencePieceProcessor(model_file="sentencepiece.model")
ids = [{ids} for text in ["a red car", "une voiture rouge"]]
ids = [[i for i in text if {keep}] or [{unknown}] * bool(text) for text in ids]
offsets = np.cumsum([0] + [len(text) for text in ids])
(vectors,) = session.run(None, {{"ids": np.concatenate(ids).astype(np.int64), "offsets": offsets}})
"""


def write(model: StaticModel, out: Path, sentences: Sequence[str]) -> str:
    """Write the folder; see :func:`psp.models.exports.export`. ``sentences`` is unused: the graph has no tokenizer.

    Raises:
        PspError: the embedding matrix is too large for an ONNX file.
    """
    table = rows(model)
    if table.nbytes > LARGEST:
        raise PspError(
            f"an embedding matrix of {table.nbytes:,} bytes does not fit into an ONNX file, which holds {LARGEST:,}"
        )
    serialised = graph(table).SerializeToString()
    said = (
        "Inputs: ids, int64; offsets, int64, rising from 0 to the number of ids, one more than there are sentences. "
        "Output: vectors, float32. psp's StaticModel.ids gives both inputs."
    )
    if model.config.get("segment"):
        said += " Chinese text is segmented before it is lower-cased: the lines above do not do so."
    code = CODE.format(
        ids="processor.encode(text.lower())" if model.config.get("lower_case") else "processor.encode(text)",
        keep=f"i != {model.unknown_id}" + (" and i not in left_out" if model.config.get("left_out") else ""),
        unknown=model.unknown_id,
    )
    if left_out := model.config.get("left_out"):
        code = f"left_out = {set(left_out)}\n{code.strip()}"
    with new_folder(out) as folder:
        for name, content in ("model.onnx", serialised), (SENTENCEPIECE, model.sentencepiece.serialized_model_proto()):
            with atomic(folder / name) as temporary:
                temporary.write_bytes(content)
        readme(folder, model, code, said)
    return said


def graph(table: np.ndarray) -> Any:
    """Build the ``onnx.ModelProto`` that averages rows of an embedding matrix, float32 (rows, dim)."""
    onnx = library("onnx")
    helper, numbers = onnx.helper, onnx.numpy_helper
    integer, real, boolean = (getattr(onnx.TensorProto, name) for name in ("INT64", "FLOAT", "BOOL"))
    dim = table.shape[1]

    def node(kind: str, inputs: str, output: str, **attributes: Any) -> Any:
        return helper.make_node(kind, inputs.split(), [output], **attributes)

    value = helper.make_tensor_value_info
    sentence = [
        node("Gather", "starts i", "start"),
        node("Gather", "stops i", "stop"),
        node("Unsqueeze", "start first", "start1"),
        node("Unsqueeze", "stop first", "stop1"),
        node("Slice", "ids start1 stop1 first", "own"),
        node("Gather", "table own", "rows"),
        node("ReduceSum", "rows first", "sum", keepdims=0),
        node("Identity", "go", "on"),
    ]
    body = helper.make_graph(
        sentence, "sentence", [value("i", integer, []), value("go", boolean, [])],
        [value("on", boolean, []), value("sum", real, [dim])],
    )  # fmt: skip
    nodes = [
        node("Slice", "offsets first last first", "starts"),
        node("Slice", "offsets second end first", "stops"),
        node("Size", "starts", "sentences"),
        helper.make_node("Loop", ["sentences", ""], ["sums"], body=body),
        node("Sub", "stops starts", "lengths"),
        node("Max", "lengths one", "divisors"),  # a sentence without ids gets zeros
        node("Cast", "divisors", "real", to=real),
        node("Unsqueeze", "real second", "column"),
        node("Div", "sums column", "vectors"),
    ]
    constants = {"first": [0], "second": [1], "last": [-1], "end": [2**62], "one": 1}
    made = helper.make_graph(
        nodes,
        "psp",
        [value("ids", integer, ["pieces"]), value("offsets", integer, ["edges"])],
        [value("vectors", real, ["sentences", dim])],
        [
            numbers.from_array(table, "table"),
            *(numbers.from_array(np.array(of, np.int64), name) for name, of in constants.items()),
        ],
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR, producer_name="psp")
    onnx.checker.check_model(model)
    return model
