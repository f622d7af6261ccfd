"""Write a trained translator as a folder that CTranslate2 decodes.

``ctranslate2/`` is CTranslate2's own format, with float32 weights; it computes in int8 if loaded that way
(``ctranslate2.Translator(folder, compute_type="int8")``). Beside it are the sentencepiece model of both sides,
config.json, and the same weights as ``model.safetensors`` by torch's names.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import nn

from psp.config.blocks.translator import CONFIG, CTRANSLATE2, FILES, SENTENCEPIECE, WEIGHTS
from psp.core.errors import DataError, from_extra
from psp.core.files import folder_beside, read_json, write_json
from psp.training.translator.model import Attention, DecoderLayer, EncoderLayer, FeedForward, Sizes, TranslatorModel

FORMAT = 1


def library() -> Any:
    """The module ctranslate2.

    Raises:
        PspError: it is missing.
    """
    with from_extra("translate", "a translator needs ctranslate2"):
        import ctranslate2
        import ctranslate2.specs
    return ctranslate2


def save(
    out: Path, network: TranslatorModel, sentencepiece: Path, config: Mapping[str, Any], languages: Sequence[str]
) -> None:
    """Write a translator's folder; config.json last, so that a folder with one is whole.

    Args:
        out: the folder; files of a translator in it are replaced.
        network: its weights, on any device.
        sentencepiece: the file of its sentencepiece model.
        config: goes into config.json, besides format, languages and sizes.
        languages: source and target.

    Raises:
        PspError: ctranslate2 is missing.
        DataError: the folder cannot be written.
    """
    from safetensors.torch import save_file

    from psp.text.sentencepiece_tokenizer import load_sentencepiece

    processor = load_sentencepiece(sentencepiece)
    network = network.to("cpu").eval()
    sizes = dataclasses.asdict(network.sizes)
    described = {
        "format": FORMAT,
        "kind": "translator",
        "languages": {"source": languages[0], "target": languages[1]},
        **sizes,
        **config,
    }
    with folder_beside(out) as folder:
        (folder / CTRANSLATE2).mkdir()
        _write_ctranslate2(network, processor, folder / CTRANSLATE2)
        save_file({name: tensor.clone() for name, tensor in network.state_dict().items()}, folder / WEIGHTS)
        shutil.copyfile(sentencepiece, folder / SENTENCEPIECE)
        write_json(folder / CONFIG, described)
        try:
            (out / CTRANSLATE2).mkdir(parents=True, exist_ok=True)
            (out / CONFIG).unlink(missing_ok=True)
            for name in sorted(FILES, key=lambda name: name == CONFIG):
                (folder / name).replace(out / name)
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}; choose another folder", out) from error


def load(folder: Path) -> tuple[TranslatorModel, dict[str, Any]]:
    """The network of a translator's folder, and its config.json.

    Raises:
        DataError: it is not a translator's folder, or of another version.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    config = read_json(folder / CONFIG)
    if config.get("kind") != "translator" or config.get("format") != FORMAT:
        raise DataError(f"is not a translator's, of format {FORMAT}; name the folder of one", folder / CONFIG)
    network = TranslatorModel(Sizes(**{field.name: config[field.name] for field in dataclasses.fields(Sizes)}))
    try:
        network.load_state_dict(load_file(folder / WEIGHTS))
    except (OSError, SafetensorError, RuntimeError) as error:
        raise DataError(f"cannot be read: {error}", folder / WEIGHTS) from error
    return network.eval(), config


def _write_ctranslate2(network: TranslatorModel, processor: Any, folder: Path) -> None:
    specs = library().specs
    sizes = network.sizes
    spec = specs.TransformerSpec.from_config((sizes.encoder_layers, sizes.decoder_layers), sizes.heads, pre_norm=True)
    encodings = network.positions.numpy()
    for side, embedding in ((spec.encoder, network.source_vectors), (spec.decoder, network.target_embedding)):
        one = side.embeddings[0] if isinstance(side.embeddings, list) else side.embeddings
        one.weight = embedding.weight.detach().numpy()
        side.position_encodings.encodings = encodings
    _norm(spec.encoder.layer_norm, network.encoder_norm)
    for layer, ours in zip(spec.encoder.layer, network.encoder, strict=True):
        assert isinstance(ours, EncoderLayer)
        _attention(layer.self_attention, ours.attention)
        _feed_forward(layer.ffn, ours.feed_forward)
    _norm(spec.decoder.layer_norm, network.decoder_norm)
    for layer, theirs in zip(spec.decoder.layer, network.decoder, strict=True):
        assert isinstance(theirs, DecoderLayer)
        _attention(layer.self_attention, theirs.attention)
        _attention(layer.attention, theirs.source_attention)
        _feed_forward(layer.ffn, theirs.feed_forward)
    spec.decoder.projection.weight = network.output_weight.detach().numpy()
    pieces = [processor.id_to_piece(number) for number in range(sizes.pieces)]
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.config.bos_token = spec.config.decoder_start_token = processor.id_to_piece(processor.bos_id())
    spec.config.eos_token = processor.id_to_piece(processor.eos_id())
    spec.config.unk_token = processor.id_to_piece(processor.unk_id())
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = network.encoder_norm.eps
    spec.validate()
    spec.optimize(quantization="float32")
    spec.save(str(folder))


def _norm(spec: Any, norm: nn.LayerNorm) -> None:
    spec.gamma, spec.beta = norm.weight.detach().numpy(), norm.bias.detach().numpy()


def _linear(spec: Any, linear: nn.Module) -> None:
    assert isinstance(linear, nn.Linear)
    spec.weight, spec.bias = linear.weight.detach().numpy(), linear.bias.detach().numpy()


def _attention(spec: Any, attention: Attention) -> None:
    _norm(spec.layer_norm, attention.norm)
    names = ("query", "key_value", "out") if attention.over_source else ("query_key_value", "out")
    for one, name in zip(spec.linear, names, strict=True):
        _linear(one, getattr(attention, name))


def _feed_forward(spec: Any, feed_forward: FeedForward) -> None:
    _norm(spec.layer_norm, feed_forward.norm)
    _linear(spec.linear_0, feed_forward.inner)
    _linear(spec.linear_1, feed_forward.outer)
