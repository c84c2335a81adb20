import json
import os
import sys


def apart(work):
    """The answer of a function that runs in a process of its own: oslo keeps options, defaults and values on objects that
    all share."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(out)
        with os.fdopen(into, 'w') as pipe:
            json.dump(work(), pipe)
        os._exit(0)
    os.close(into)
    with os.fdopen(out) as pipe:
        text = pipe.read()
    if os.waitpid(child, 0)[1] != 0:
        sys.exit('see above')
    return json.loads(text)
