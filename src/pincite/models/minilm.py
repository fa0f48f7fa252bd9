"""The graph of all-MiniLM-L6-v2 with int8 weights, built from its published weights.

Every matrix product is a DynamicQuantizeMatMul: weights are int8 with a scale for each column,
activations become uint8 as they arrive. Attention itself, normalisation and pooling stay float.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onnx import ModelProto

Weights = Mapping[str, NDArray[np.float32]]

LAYERS, HEADS, HIDDEN = 6, 12, 384
EPSILON = 1e-12

# onnxruntime's AVX2 kernels add pairs of products in 16 bits; weights of 7 bits cannot overflow
# them, so that old and new processors give the same vectors.
_LARGEST_WEIGHT = 63
_LARGEST_BYTE = 127

_OPSET, _IR_VERSION = 20, 9
_CONTRIB = "com.microsoft"


def build_minilm(weights: Weights) -> ModelProto:
    """Token ids in; `sentence_embedding` (mean, of length 1) and `token_embeddings` out."""
    from onnx import TensorProto, helper

    graph = _Graph(weights)
    mask = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    hidden = _embeddings(graph)
    # 0 for a token, far below for padding, shaped to be added to every head's scores.
    wide = graph.add("Unsqueeze", mask, graph.constant([1, 2]))
    padding = graph.add("Sub", graph.constant(np.float32(1)), wide)
    bias = graph.add("Mul", padding, graph.constant(np.float32(-10_000)))
    for layer in range(LAYERS):
        hidden = _layer(graph, hidden, bias, f"encoder.layer.{layer}")
    graph.add("Identity", hidden, output="token_embeddings")
    # The mean over real tokens, scaled to length 1; the sum does, as the length is lost anyway.
    kept = graph.add("Mul", "token_embeddings", graph.add("Unsqueeze", mask, graph.constant([2])))
    total = graph.add("ReduceSum", kept, graph.constant([1]), keepdims=0)
    graph.add("LpNormalization", total, output="sentence_embedding", axis=-1, p=2)

    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    shapes: dict[str, list[str | int]] = {
        "sentence_embedding": ["batch", HIDDEN],
        "token_embeddings": ["batch", "tokens", HIDDEN],
    }
    outputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in shapes.items()
    ]
    return helper.make_model(
        helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", inputs, outputs, graph.constants),
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid(_CONTRIB, 1)],
        ir_version=_IR_VERSION,
        producer_name="pincite",
    )


class _Graph:
    """Collects nodes and constants, naming what needs no name of its own."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:  # noqa: ANN401  # ONNX attributes are of any type
        return self.add_many(operator, *inputs, outputs=[output or self._next()], **attributes)[0]

    def add_many(
        self,
        operator: str,
        *inputs: str,
        outputs: list[str],
        **attributes: Any,  # noqa: ANN401  # ONNX attributes are of any type
    ) -> list[str]:
        from onnx import helper

        domain = _CONTRIB if operator == "DynamicQuantizeMatMul" else ""
        node = helper.make_node(operator, inputs, outputs, domain=domain, **attributes)
        self.nodes.append(node)
        return outputs

    def constant(self, values: Any) -> str:  # noqa: ANN401  # whatever NumPy takes
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, order="C"), name))
        return name

    def names(self, count: int) -> list[str]:
        return [f"{self._next()}_{part}" for part in range(count)]

    def _next(self) -> str:
        return f"node_{len(self.nodes)}"


def _embeddings(graph: _Graph) -> str:
    """Word, position and segment vectors added up and normalised."""
    # Half of all weights: kept as bytes with a scale for each word, and looked up as such.
    from onnx import TensorProto

    table = _table(graph, "word")
    scales = np.maximum(np.abs(table).max(axis=1, keepdims=True) / _LARGEST_BYTE, EPSILON)
    rounded = np.rint(table / scales).astype(np.int8)
    looked_up = graph.add("Gather", graph.constant(rounded), "input_ids")
    scale = graph.add("Gather", graph.constant(scales.astype(np.float32)), "input_ids")
    word = graph.add("Mul", graph.add("Cast", looked_up, to=TensorProto.FLOAT), scale)
    segment = graph.add("Gather", graph.constant(_table(graph, "token_type")), "token_type_ids")
    zero = graph.constant([0])
    tokens = graph.add("Shape", "input_ids", start=1, end=2)
    position = graph.add("Slice", graph.constant(_table(graph, "position")), zero, tokens, zero)
    total = graph.add("Add", graph.add("Add", word, segment), position)
    return _normalised(graph, total, "embeddings.LayerNorm")


def _table(graph: _Graph, name: str) -> NDArray[np.float32]:
    return graph.weights[f"embeddings.{name}_embeddings.weight"]


def _layer(graph: _Graph, hidden: str, bias: str, name: str) -> str:
    attended = _attention(graph, hidden, bias, f"{name}.attention.self")
    attended = _dense(graph, attended, f"{name}.attention.output.dense")
    total = graph.add("Add", attended, hidden)
    hidden = _normalised(graph, total, f"{name}.attention.output.LayerNorm")
    wide = graph.add("Gelu", _dense(graph, hidden, f"{name}.intermediate.dense"))
    total = graph.add("Add", _dense(graph, wide, f"{name}.output.dense"), hidden)
    return _normalised(graph, total, f"{name}.output.LayerNorm")


def _attention(graph: _Graph, hidden: str, bias: str, name: str) -> str:
    width = HIDDEN // HEADS
    # One product for all three, so that the activations are quantised once and not three times.
    joined, offsets = (
        np.concatenate(
            [graph.weights[f"{name}.{part}.{kind}"] for part in ("query", "key", "value")]
        )
        for kind in ("weight", "bias")
    )
    product = _product(graph, hidden, joined.T, offsets)
    heads = graph.add("Reshape", product, graph.constant([0, 0, 3 * HEADS, width]))
    heads = graph.add("Transpose", heads, perm=[0, 2, 1, 3])
    query, key, value = graph.add_many(
        "Split", heads, outputs=graph.names(3), axis=1, num_outputs=3
    )
    query = graph.add("Mul", query, graph.constant(np.float32(width**-0.5)))
    scores = graph.add("MatMul", query, graph.add("Transpose", key, perm=[0, 1, 3, 2]))
    shares = graph.add("Softmax", graph.add("Add", scores, bias), axis=-1)
    mixed = graph.add("Transpose", graph.add("MatMul", shares, value), perm=[0, 2, 1, 3])
    return graph.add("Reshape", mixed, graph.constant([0, 0, HIDDEN]))


def _dense(graph: _Graph, hidden: str, name: str) -> str:
    weight, bias = graph.weights[f"{name}.weight"], graph.weights[f"{name}.bias"]
    return _product(graph, hidden, weight.T, bias)


def _product(
    graph: _Graph, hidden: str, weight: NDArray[np.float32], bias: NDArray[np.float32]
) -> str:
    scales = (np.abs(weight).max(axis=0) / _LARGEST_WEIGHT).astype(np.float32)
    rounded = np.rint(weight / scales).astype(np.int8)
    return graph.add(
        "DynamicQuantizeMatMul",
        hidden,
        graph.constant(rounded),
        graph.constant(scales),
        "",  # no zero point: weights are rounded symmetrically
        graph.constant(bias),
    )


def _normalised(graph: _Graph, hidden: str, name: str) -> str:
    weight, bias = graph.weights[f"{name}.weight"], graph.weights[f"{name}.bias"]
    constants = graph.constant(weight), graph.constant(bias)
    return graph.add("LayerNormalization", hidden, *constants, axis=-1, epsilon=EPSILON)
