"""``python -SE script_client.py SOCKET SCRIPT`` has script_server.py run a script, and ends as that does.

The script gets this process's folder, environment and outputs. Each job starts one: with the modules that one would
take for sockets, paths and JSON it would need four times as long.
"""

import _socket
import os
import sys

address, script = sys.argv[1:]
server = _socket.socket(_socket.AF_UNIX)
while server.connect_ex(address):  # it is still importing
    import time

    time.sleep(0.1)
words = [script, os.getcwd(), *(word for item in os.environ.items() for word in item)]  # noqa: PTH109
asked = b"\0".join(map(os.fsencode, words))
outputs = b"".join(number.to_bytes(4, sys.byteorder) for number in (1, 2))
server.sendmsg([len(asked).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, outputs)])
server.sendall(asked)
answer = server.recv(1)
os._exit(answer[0] if answer else 1)
