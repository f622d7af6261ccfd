"""The model that ``psp.load_model("starter")`` loads; its files are in ``model/``."""
