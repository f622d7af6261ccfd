"""Using a model: streaming embedding, search, bitext mining, serving."""
