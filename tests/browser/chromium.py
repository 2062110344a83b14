"""A headless Chromium, spoken to through pipes: the DevTools protocol, without a port and without packages."""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time


PATIENCE = 120  # seconds for what a page must come to


def skip(why):
    print(why)
    sys.exit(77)


class Chromium:
    def __init__(self, *flags):
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if not program:
            skip("no chromium here (Debian: chromium)")
        self.home = tempfile.mkdtemp(prefix="jprof-browser-")
        theirs_in, self.out = os.pipe()
        self.inp, theirs_out = os.pipe()

        def hand_over():
            # Through higher numbers, for one of them may be 3 or 4 already.
            first, second = os.dup(theirs_in), os.dup(theirs_out)
            first, second = os.dup2(first, 100), os.dup2(second, 101)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--user-data-dir=" + self.home, "--remote-debugging-pipe", *flags, "about:blank"],
            preexec_fn=hand_over, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.events = []
        try:
            targets = self.call("Target.getTargets")["targetInfos"]
        except (EOFError, TimeoutError):
            self.close()
            skip("chromium does not start here")
        page = [t for t in targets if t["type"] == "page"][0]
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network":
            self.call(domain + ".enable")

    def receive(self, until):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.inp], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise TimeoutError("chromium does not answer")
            more = os.read(self.inp, 65536)
            if not more:
                raise EOFError("chromium went away")
            self.buffer += more
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + 120
        while True:
            answer = self.receive(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(method + ": " + answer["error"]["message"])
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def open(self, url, width=1200, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url=url)
        until = time.monotonic() + 120
        while not any(e["method"] == "Page.loadEventFired" for e in self.events):
            self.events.append(self.receive(until))
        self.events = [e for e in self.events if e["method"] != "Page.loadEventFired"]

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(script + ": " + json.dumps(answer["exceptionDetails"])[:500])
        return answer["result"].get("value")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, count=1):
        for n in range(1, count + 1):
            self.mouse("mousePressed", x, y, button="left", clickCount=n)
            self.mouse("mouseReleased", x, y, button="left", clickCount=n)

    def drag(self, x, y, to_x, to_y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        for i in range(1, 6):
            self.mouse("mouseMoved", x + (to_x - x) * i / 5, y + (to_y - y) * i / 5, button="left", buttons=1)
        self.mouse("mouseReleased", to_x, to_y, button="left", clickCount=1)

    def key(self, key):
        code = {"Tab": 9, "Escape": 27}.get(key, 0)
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key if len(key) == 1 else "",
                  windowsVirtualKeyCode=code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))

    def cpu(self, kind=""):
        """Milliseconds that its processes took; of those alone that have this word in their command line."""
        ticks, below = 0, {self.process.pid}
        for pid in sorted(int(name) for name in os.listdir("/proc") if name.isdigit()):
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
                    fields = stat.read().rsplit(")", 1)[1].split()
                with open(f"/proc/{pid}/cmdline", "rb") as line:
                    meant = kind.encode() in line.read()
            except OSError:
                continue
            if int(fields[1]) in below or pid == self.process.pid:
                below.add(pid)
                ticks += int(fields[11]) + int(fields[12]) if meant else 0
        return ticks * 1000 / os.sysconf("SC_CLK_TCK")

    def wait(self, expression, what):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.run("!!document.body && !!(%s)" % expression):
                return
            time.sleep(0.1)
        raise TimeoutError("%s; the page says: %s" % (what, self.run("document.body.innerText")[:600]))

    def complaints(self, levels=("error", "warning")):
        """What went wrong in the page, as the console shows it."""
        texts = []
        for event in self.events:
            p = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                texts.append(json.dumps(p["exceptionDetails"])[:300])
            if event["method"] == "Runtime.consoleAPICalled" and p["type"] in (*levels, "assert"):
                texts.append(json.dumps(p["args"])[:300])
            if event["method"] == "Log.entryAdded" and p["entry"]["level"] in levels:
                texts.append("%s %s" % (p["entry"]["text"], p["entry"].get("url", "")))
            if event["method"] == "Page.javascriptDialogOpening":
                texts.append("a dialog: " + p["message"])
        return texts

    def requests(self):
        return [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]

    def close(self):
        for end in (self.out, self.inp):
            os.close(end)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)
