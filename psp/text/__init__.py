"""Text: lines, words, keys, characters, languages, and how text becomes subword ids."""
