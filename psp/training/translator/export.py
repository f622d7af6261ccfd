"""A translator's folder: a Marian model as transformers saves it, and the same for CTranslate2 by its own converter.

``ctranslate2/`` has float32 weights; it computes in int8 if loaded that way
(``ctranslate2.Translator(folder, compute_type="int8")``). Beside it are the sentencepiece model of both sides, and
config.json and model.safetensors, which ``transformers.MarianMTModel.from_pretrained(folder)`` reads.
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
    """A ``MarianMTModel`` over the pieces of a sentencepiece model, its first weights drawn by torch.

    Padding, which also begins a target, is one more id, the last, as the converter expects. Its vector stays 0.
    """
    from transformers import AutoModelForSeq2SeqLM, MarianConfig

    pieces, end = processor.get_piece_size(), processor.eos_id()
    return AutoModelForSeq2SeqLM.from_config(
        MarianConfig(
            vocab_size=pieces + 1,
            pad_token_id=pieces,
            decoder_start_token_id=pieces,
            bos_token_id=None,
            eos_token_id=end,
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
            # Vectors have variance 1 once scaled, and so have a square matrix's products of such.
            init_std=settings.dim**-0.5,
            share_encoder_decoder_embeddings=settings.share_vectors,
            tie_word_embeddings=settings.share_vectors,
        ),
        attn_implementation=attention,
    )


def save(out: Path, network: Any, sentencepiece: Path, about: Mapping[str, Any]) -> None:
    """Write a translator's folder; config.json last, so that a folder with one is whole.

    Args:
        out: the folder; files of a translator in it are replaced.
        network: a ``MarianMTModel``, on any device.
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
    """Convert the Marian model in a folder into ``ctranslate2/`` inside."""
    from ctranslate2.converters import TransformersConverter

    pieces = processor.get_piece_size()
    names = [*map(processor.id_to_piece, range(pieces)), "<pad>"]

    class Converter(TransformersConverter):
        def load_tokenizer(self, *_: Any, **__: Any) -> Any:
            """What the converter reads of a tokenizer; Marian's own needs a vocabulary in another format."""
            return SimpleNamespace(
                get_vocab=lambda: {name: number for number, name in enumerate(names)},
                eos_token=names[processor.eos_id()],
                unk_token=names[processor.unk_id()],
            )

        def _load(self) -> Any:
            spec = super()._load()
            spec.config.add_source_eos = True  # so that a source is its pieces alone
            return spec

    Converter(str(folder)).convert(str(folder / CTRANSLATE2), quantization="float32")
