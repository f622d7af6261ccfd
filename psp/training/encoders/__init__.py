"""Trainable encoders: ids in, one vector per sentence out."""
