"""Opens pages in headless Chromium over its debugging pipe.

usage: browser.py CHROMIUM dhat PAGE FILE TOTAL FUNCTION      DHAT's viewer with FILE chosen as a user would
       browser.py CHROMIUM speedscope DIRECTORY FILE PROFILE FUNCTION   speedscope's release with FILE
The page must show TOTAL or PROFILE and FUNCTION, and nothing may be an error. Exits 77 where no browser starts.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

PATIENCE = 120


class Browser:
    """One tab. Messages are JSON, ended by NUL, on the descriptors 3 and 4 of the browser."""

    def __init__(self, chromium):
        self.home = tempfile.mkdtemp()
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def wire():
            spare = [os.dup(to_browser), os.dup(from_browser)]
            os.dup2(spare[0], 3)
            os.dup2(spare[1], 4)

        self.process = subprocess.Popen(
            [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--allow-file-access-from-files", "--user-data-dir=" + self.home, "--remote-debugging-pipe",
             "about:blank"],
            preexec_fn=wire, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=open(os.path.join(self.home, "log"), "wb"), env=dict(os.environ, HOME=self.home))
        os.close(to_browser)
        os.close(from_browser)
        self.rest, self.serial, self.session, self.errors = b"", 0, None, []

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def message(self):
        end = time.monotonic() + PATIENCE
        while b"\0" not in self.rest:
            if not select.select([self.read_end], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self.read_end, 1 << 16)
            if not data:
                raise EOFError("the browser went away")
            self.rest += data
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def note(self, message):
        """Anything that a developer would see in red."""
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append("%s %s" % (params["entry"]["text"], params["entry"].get("url", "")))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.errors.append(json.dumps(params["args"]))
        elif method == "Page.javascriptDialogOpening":
            self.errors.append("a dialog: " + params["message"])

    def call(self, method, **params):
        self.serial += 1
        request = {"id": self.serial, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write_end, json.dumps(request).encode() + b"\0")
        while True:
            message = self.message()
            self.note(message)
            if message.get("id") == self.serial:
                if "error" in message:
                    raise RuntimeError("%s: %s" % (method, message["error"]))
                return message["result"]

    def open(self, url):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=1600, height=1000, deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url=url)

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", "exception"))
        return result["result"].get("value")

    def wait(self, expression, what):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.value("!!document.body && !!(%s)" % expression):
                return
            time.sleep(0.1)
        raise TimeoutError("%s; the page says: %s; errors: %s" % (what, self.value("document.body.innerText")[:600], self.errors))

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


def show_dhat(browser, page, path, total, function):
    browser.open("file://" + page)
    browser.wait("document.querySelector('input[type=file]')", "no viewer")
    document = browser.call("DOM.getDocument")
    node = browser.call("DOM.querySelector", nodeId=document["root"]["nodeId"], selector="input[type=file]")
    browser.call("DOM.setFileInputFiles", nodeId=node["nodeId"], files=[os.path.abspath(path)])
    browser.wait("document.body.innerText.includes('PP 1/1')", "no tree")
    text = browser.value("document.body.innerText")
    grouped = "{:,}".format(int(total))
    if "Total: %s bytes (100%%" % grouped not in " ".join(text.split()):
        raise AssertionError("the root is not %s bytes: %s" % (grouped, text[:800]))
    if function not in text:
        raise AssertionError("no %s in the tree" % function)


def show_speedscope(browser, directory, path, profile, function):
    # As speedscope's own command line does it: a script hands the file over.
    script = os.path.join(browser.home, "profile.js")
    with open(path, "rb") as file:
        data = base64.b64encode(file.read()).decode()
    with open(script, "w") as file:
        file.write("speedscope.loadFileFromBase64(%s, '%s')" % (json.dumps(os.path.basename(path)), data))
    browser.open("file://%s/index.html#localProfilePath=%s&view=sandwich" % (os.path.abspath(directory), script))
    browser.wait("document.body.innerText.includes(%s)" % json.dumps(profile), "no profile %s" % profile)
    # The sandwich view is a table of functions.
    browser.wait("document.body.innerText.includes(%s)" % json.dumps(function), "no %s" % function)


def main(chromium, kind, *arguments):
    browser = Browser(chromium)
    try:
        try:
            browser.call("Browser.getVersion")
        except (EOFError, TimeoutError, BrokenPipeError) as why:
            print("Chromium does not start here: %s" % why)
            return 77
        (show_dhat if kind == "dhat" else show_speedscope)(browser, *arguments)
        if browser.errors:
            print("errors in the page: %s" % browser.errors)
            return 1
        if os.environ.get("JPROF_PICTURE"):
            browser.picture(os.environ["JPROF_PICTURE"])
        return 0
    except Exception as why:  # whatever it is, the browser must end
        print("%s: %s" % (type(why).__name__, why))
        return 1
    finally:
        browser.close()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
