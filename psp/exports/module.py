"""One of these names stands in the modules.json of models exported to sentence-transformers before :mod:`paraphrastic`.

So the names, ``psp.exports.module.SubwordMean`` and ``psp.exports.module.PspModel``, never change, whatever becomes of
the modules behind them.
"""

from psp.models.exports.module import PspModel as PspModel
from psp.models.exports.module import SubwordMean as SubwordMean
