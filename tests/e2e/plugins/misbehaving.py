"""See misbehaving.proto."""

import itertools
import os
import subprocess
import sys
import threading
import time

from kairos.hub import HubError, plugin

KEPT = []


class Misbehaving:
    def Echo(self, request, context):
        metadata = dict(context.invocation_metadata())
        client = metadata.get("kairos-client", "nobody")
        secret = "with a token" if "authorization" in metadata else "without"
        return {
            "text": f"{plugin.settings().get('word', '')}{request.text} from {client} {secret}",
            "number": os.getpid(),
        }

    def Hang(self, request, context):
        time.sleep(1e6)

    def Die(self, request, context):
        os._exit(3)

    def Refuse(self, request, context):
        raise HubError(request.text, "UNAVAILABLE")

    def Leak(self, request, context):
        KEPT.append(b"x" * (request.number << 20))
        return request

    def Gulp(self, request, context):
        done = subprocess.run(
            [sys.executable, "-c", f"b'x' * ({request.number} << 20)"], capture_output=True, text=True
        )
        return {"text": done.stderr, "number": done.returncode}

    def Breed(self, request, context):
        for _ in range(request.number):
            subprocess.Popen(["sleep", "1000"], start_new_session=not request.text, stdin=subprocess.DEVNULL)
        return request

    def Escape(self, request, context):
        code = (
            "import os, sys, time\n"
            "if os.fork(): time.sleep(float(sys.argv[2])); os._exit(0)\n"
            "os.setsid()\n"
            "os.execve('/bin/sleep', [sys.argv[1], '1000'], {})"
        )
        subprocess.Popen([sys.executable, "-c", code, request.text, str(request.number)], stdin=subprocess.DEVNULL)
        return request

    def Spin(self, request, context):
        for _ in range(request.number):
            subprocess.Popen([sys.executable, "-c", "while True: pass"], stdin=subprocess.DEVNULL)
        return request

    def Write(self, request, context):
        def write():
            while True:
                sys.stdout.write("y" * 1000 + "\n")

        threading.Thread(target=write, daemon=True).start()
        return request

    def Flood(self, request, context):
        def flood():
            with plugin.lab() as lab:
                while True:
                    try:
                        lab.call("Registers", "Read", device=request.text, registers=["rtio/outputs"] * 100)
                    except HubError as error:
                        assert error.code == "RESOURCE_EXHAUSTED", error

        for _ in range(request.number):
            threading.Thread(target=flood, daemon=True).start()
        return request

    def Count(self, request, context):
        for number in itertools.count():
            yield {"number": number}


print("I begin", flush=True)
plugin.serve({"kairos.tests.misbehaving.v1.Misbehaving": Misbehaving()}, workers=8)
