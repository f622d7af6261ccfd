"""The settings of a transformer's training: their defaults, and which of them decide what is learned."""

from psp.config.blocks.transformer import TransformerSettings


def test_settings_are_declared_with_their_recipe():
    assert TransformerSettings().as_dict() == {
        "pooling": "mean", "dim": 2048, "batch_size": 64, "epochs": 1, "learning_rate": 2e-5, "warmup": 0.1,
        "scale": 20.0, "directions": "both", "max_length": 64, "cached": None,
        "precision": "float32", "device": "auto", "log_every": 50, "checkpoint_steps": 500,
    }  # fmt: skip
    job = TransformerSettings().as_dict().keys() - TransformerSettings().learned().keys()
    assert job == {"device", "log_every", "checkpoint_steps"}
