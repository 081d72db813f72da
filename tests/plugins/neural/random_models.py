"""Run by a Python with torch and transformers: ``random_models.py FOLDER`` makes small models with random weights.

Writes them into folders beside the tokenizer in each, and prints their own scores of a few pairs, one sentence at a
time, as JSON; for an encoder in ``FOLDER/encoder``, if there is one, vectors of texts.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
import transformers

PAIRS = [
    ("ein haus", "a house"),
    ("ein haus", "the house, big and old ."),
    ("ja", "yes"),
    ("", "a"),
    ("das ist gut", ""),
    ("das ist gut", "that is very good indeed"),
]
PROMPT = "de {source} en "
SPECIAL = {"bos_token": "[CLS]", "eos_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}


def tokenizer(folder: Path) -> Any:
    """The tokenizer of a folder, saved again as transformers does."""
    made = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), **SPECIAL)
    made.save_pretrained(folder)
    return transformers.AutoTokenizer.from_pretrained(folder)


def exported(call: Any, arrays: dict[str, Any], path: Path, output: str) -> None:
    """Write a model as ONNX, with the names of inputs and outputs that optimum gives them."""

    class Model(torch.nn.Module):
        forward = staticmethod(call)

    shapes = tuple(dict.fromkeys(range(2), torch.export.Dim.DYNAMIC) for _ in arrays)
    options: Any = {"input_names": list(arrays), "output_names": [output], "dynamic_shapes": shapes, "verbose": False}
    torch.onnx.export(Model().eval(), tuple(arrays.values()), str(path), **options)


def causal(folder: Path) -> list[list[float]]:
    """A model of the kind GPT-2."""
    words = tokenizer(folder)
    config = transformers.GPT2Config(
        vocab_size=len(words), n_layer=2, n_head=2, n_embd=16, n_positions=128, bos_token_id=2, eos_token_id=3
    )
    model: Any = transformers.GPT2LMHeadModel(config).eval()
    model.transformer.wte.weight.data *= 20  # far from uniform
    model.save_pretrained(folder)
    numbers = torch.arange(10).reshape(2, 5)
    inputs = {"input_ids": numbers, "attention_mask": torch.ones_like(numbers), "position_ids": numbers % 5}

    def forward(input_ids: Any, attention_mask: Any, position_ids: Any) -> Any:
        return model(input_ids, attention_mask=attention_mask, position_ids=position_ids, use_cache=False).logits

    exported(forward, inputs, folder / "model.onnx", "logits")
    found = []
    for source, text in PAIRS:
        before = [2, *words(PROMPT.replace("{source}", source), add_special_tokens=False)["input_ids"]]
        row = [*before, *words(text, add_special_tokens=False)["input_ids"], 3]
        with torch.no_grad():
            scores = model(torch.tensor([row])).logits[0].double().log_softmax(-1)
        single = [float(scores[i - 1, row[i]]) for i in range(len(before), len(row))]
        found.append([sum(single), sum(single) / len(single)])
    return found


def seq2seq(folder: Path) -> list[list[float]]:
    """A model of the kind T5."""
    words = tokenizer(folder)
    config = transformers.T5Config(
        vocab_size=len(words), d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, decoder_start_token_id=0,
        eos_token_id=3,
    )  # fmt: skip
    model: Any = transformers.T5ForConditionalGeneration(config).eval()
    model.save_pretrained(folder)
    _export_seq2seq(model, folder)
    found = []
    for source, text in PAIRS:
        with torch.no_grad():
            labels = words(text, return_tensors="pt")["input_ids"]
            loss = model(words(source, return_tensors="pt")["input_ids"], labels=labels).loss
        found.append([-float(loss) * labels.shape[1], -float(loss)])
    return found


def _export_seq2seq(model: Any, folder: Path) -> None:
    numbers = torch.arange(10).reshape(2, 5)
    mask = torch.ones_like(numbers)

    def encode(input_ids: Any, attention_mask: Any) -> Any:
        return model.encoder(input_ids, attention_mask=attention_mask).last_hidden_state

    def decode(encoder_attention_mask: Any, input_ids: Any, encoder_hidden_states: Any) -> Any:
        states = transformers.modeling_outputs.BaseModelOutput(last_hidden_state=encoder_hidden_states)
        options = {"attention_mask": encoder_attention_mask, "decoder_input_ids": input_ids, "use_cache": False}
        return model(encoder_outputs=states, **options).logits

    inputs = {"input_ids": numbers, "attention_mask": mask}
    exported(encode, inputs, folder / "encoder_model.onnx", "last_hidden_state")
    inputs = {
        "encoder_attention_mask": mask[:, :4],
        "input_ids": numbers,
        "encoder_hidden_states": torch.ones(2, 4, 16),
    }
    exported(decode, inputs, folder / "decoder_model.onnx", "logits")


def encoder(folder: Path) -> list[list[float]]:
    """Unit vectors of the hypotheses: means of the states of tokens."""
    words = transformers.AutoTokenizer.from_pretrained(folder)
    model: Any = transformers.AutoModel.from_pretrained(folder).eval()
    found = []
    for _, text in PAIRS:
        with torch.no_grad():
            states = model(**words(text, return_tensors="pt")).last_hidden_state[0].mean(dim=0)
        found.append((states / states.norm()).tolist())
    return found


def main() -> None:
    """Make all models."""
    torch.manual_seed(1)
    folder = Path(sys.argv[1])
    scores = {"causal": causal(folder / "causal"), "seq2seq": seq2seq(folder / "seq2seq")}
    if (folder / "encoder").is_dir():
        scores["encoder"] = encoder(folder / "encoder")
    sys.stdout.write(json.dumps(scores) + "\n")


if __name__ == "__main__":
    main()
