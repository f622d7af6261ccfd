"""``psp.exports.module.SubwordMean`` stands in the modules.json of every model exported to sentence-transformers.

So this name never changes, whatever becomes of the modules behind it.
"""

from psp.models.exports.module import SubwordMean as SubwordMean
