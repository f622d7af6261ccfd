"""The config: checked against what is declared, resolved into each model's settings."""
