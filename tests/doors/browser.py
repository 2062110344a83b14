"""Opens pages in headless Chromium .

usage: browser.py dhat PAGE FILE TOTAL FUNCTION      DHAT's viewer with FILE chosen as a user would
       browser.py speedscope DIRECTORY FILE PROFILE FUNCTION   speedscope's release with FILE
The page must show TOTAL or PROFILE and FUNCTION, and nothing may be an error. Exits 77 where no browser starts.
"""
import base64
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "browser"))
from chromium import Chromium  # noqa: E402


def show_dhat(browser, page, path, total, function):
    browser.open("file://" + page, 1600, 1000)
    browser.wait("document.querySelector('input[type=file]')", "no viewer")
    document = browser.call("DOM.getDocument")
    node = browser.call("DOM.querySelector", nodeId=document["root"]["nodeId"], selector="input[type=file]")
    browser.call("DOM.setFileInputFiles", nodeId=node["nodeId"], files=[os.path.abspath(path)])
    browser.wait("document.body.innerText.includes('PP 1/1')", "no tree")
    text = browser.run("document.body.innerText")
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
    browser.open("file://%s/index.html#localProfilePath=%s&view=sandwich" % (os.path.abspath(directory), script), 1600, 1000)
    browser.wait("document.body.innerText.includes(%s)" % json.dumps(profile), "no profile %s" % profile)
    # The sandwich view is a table of functions.
    browser.wait("document.body.innerText.includes(%s)" % json.dumps(function), "no %s" % function)


def main(kind, *arguments):
    browser = Chromium("--allow-file-access-from-files")
    try:
        (show_dhat if kind == "dhat" else show_speedscope)(browser, *arguments)
        if browser.complaints(["error"]):
            print("errors in the page: %s" % browser.complaints(["error"]))
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
