"""The modules that sentence-transformers loads by the names that stand in a folder's modules.json.

So the names, ``paraphrastic.exports.PspModel`` and so on, never change, whatever becomes of the modules behind them.
They have two dots on purpose: for a name with one, the library would run a file of that name in the folder.
"""

from paraphrastic import check

check()

from psp.models.exports.module import PspModel as PspModel  # noqa: E402
from psp.models.lstm_pooling import LstmPooling as LstmPooling  # noqa: E402
