"""A translator's folder: a Pegasus model as transformers saves it, and the same for CTranslate2 by its own converter.

``ctranslate2/`` has float32 weights; it computes in int8 if loaded that way
(``ctranslate2.Translator(folder, compute_type="int8")``). Beside it are the sentencepiece model of both sides, and
config.json and model.safetensors, which ``transformers.PegasusForConditionalGeneration.from_pretrained(folder)`` reads.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from psp.config.blocks.translator import CONFIG, CTRANSLATE2, FILES, SENTENCEPIECE, TranslatorSettings
from psp.core.errors import DataError
from psp.core.files import folder_beside, read_json, write_json
from psp.text.sentencepiece_tokenizer import load_sentencepiece

FORMAT = 2
#: Positions with an encoding, the maximum length of text in training and in the exported model.
POSITIONS = 1024


def build(settings: TranslatorSettings, processor: Any, attention: str) -> Any:
    """A ``PegasusForConditionalGeneration`` over the pieces of a sentencepiece model, its first weights drawn by torch.

    That class is the network of Vaswani et al. (2017), but pre-norm, which learns faster at first than the
    library's Marian. Source, target and output share one matrix; a target begins with ``<s>``.
    """
    from torch import nn
    from transformers import AutoModelForSeq2SeqLM, PegasusConfig

    more: dict[str, Any] = {
        "bos_token_id": processor.bos_id(),
        "normalize_before": True,  # these two for CTranslate2's converter
        "normalize_embedding": False,
    }
    network = AutoModelForSeq2SeqLM.from_config(
        PegasusConfig(
            vocab_size=processor.get_piece_size(),
            pad_token_id=None,  # whatever stands there is masked
            decoder_start_token_id=processor.bos_id(),
            eos_token_id=processor.eos_id(),
            forced_eos_token_id=None,
            max_position_embeddings=POSITIONS,
            d_model=settings.dim,
            encoder_layers=settings.encoder_layers,
            decoder_layers=settings.decoder_layers,
            encoder_attention_heads=settings.heads,
            decoder_attention_heads=settings.heads,
            encoder_ffn_dim=settings.feed_forward,
            decoder_ffn_dim=settings.feed_forward,
            activation_function="relu",
            dropout=settings.dropout,
            scale_embedding=True,
            init_std=settings.dim**-0.5,  # vectors have variance 1 once scaled
            **more,
        ),
        attn_implementation=attention,
    )
    for module in network.modules():  # Glorot's initialisation, in place of one deviation for all
        if isinstance(module, nn.Linear) and module is not network.lm_head:
            nn.init.xavier_uniform_(module.weight)
    return network


def save(out: Path, network: Any, sentencepiece: Path, about: Mapping[str, Any]) -> None:
    """Write a translator's folder; config.json last, so that a folder with one is whole.

    Args:
        out: the folder; files of a translator in it are replaced.
        network: a ``PegasusForConditionalGeneration``, on any device.
        sentencepiece: the file of its sentencepiece model.
        about: goes into config.json, besides the library's keys.

    Raises:
        DataError: the folder cannot be written.
    """
    with folder_beside(out) as folder:
        network.save_pretrained(folder)
        _convert(folder, load_sentencepiece(sentencepiece))
        shutil.copyfile(sentencepiece, folder / SENTENCEPIECE)
        write_json(folder / CONFIG, {**read_json(folder / CONFIG), "format": FORMAT, "kind": "translator", **about})
        try:
            (out / CTRANSLATE2).mkdir(parents=True, exist_ok=True)
            (out / CONFIG).unlink(missing_ok=True)
            for name in sorted(FILES, key=lambda name: name == CONFIG):
                (folder / name).replace(out / name)
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}; choose another folder", out) from error


def _convert(folder: Path, processor: Any) -> None:
    """Convert the Pegasus model in a folder into ``ctranslate2/`` inside."""
    from ctranslate2.converters import TransformersConverter

    names = [processor.id_to_piece(number) for number in range(processor.get_piece_size())]

    class Converter(TransformersConverter):
        def load_tokenizer(self, *_: Any, **__: Any) -> Any:
            """What the converter reads of a tokenizer; transformers' one for Pegasus begins with ids of its own."""
            return SimpleNamespace(
                get_vocab=lambda: {name: number for number, name in enumerate(names)},
                pad_token=names[processor.bos_id()],  # for Pegasus padding begins a target
                eos_token=names[processor.eos_id()],
                unk_token=names[processor.unk_id()],
            )

        def _load(self) -> Any:
            spec = super()._load()
            spec.config.add_source_eos = True  # so that a source is its pieces alone
            return spec

    Converter(str(folder)).convert(str(folder / CTRANSLATE2), quantization="float32")
