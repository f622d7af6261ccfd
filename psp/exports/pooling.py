"""``psp.exports.pooling.LstmPooling`` stands in the modules.json of older transformers with LSTM pooling.

So this name never changes, whatever becomes of the modules behind it.
"""

from psp.models.lstm_pooling import LstmPooling as LstmPooling
