"""A real headless Chromium, driven through its DevTools protocol over a pipe: no other package is needed. Every page keeps what went wrong in it and
what it asked for."""

import base64
import fcntl
import json
import os
import pathlib
import queue
import shutil
import subprocess
import tempfile
import threading
import time

PATIENCE = 60


def chromium() -> str:
    """Its path; a missing browser is an error of the set-up, not a reason to skip."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert found, "there is no Chromium: apt-get install chromium, or run tools/setup --slow"
    return found


class Browser:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="kw-browser")
        # Chromium reads commands from descriptor 3 and answers on 4; the ends are moved out of the way of both first.
        ends = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for pair in (os.pipe(), os.pipe()) for fd in pair]
        read_here, write_there, self.commands = ends[0], ends[3], ends[1]
        self.answers = ends[2]

        def connect():
            os.dup2(read_here, 3)
            os.dup2(write_there, 4)

        words = [chromium(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
                 "--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={self.folder}", "about:blank"]
        self.process = subprocess.Popen(words, preexec_fn=connect, pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read_here)
        os.close(write_there)
        self.number, self.waiting, self.pages = 0, {}, {}
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        rest = b""
        while chunk := os.read(self.answers, 1 << 20):
            *messages, rest = (rest + chunk).split(b"\0")
            for message in map(json.loads, messages):
                if "id" in message:
                    self.waiting.pop(message["id"]).put(message)
                elif message.get("sessionId") in self.pages:
                    self.pages[message["sessionId"]].hear(message["method"], message["params"])

    def call(self, method, session=None, **params):
        self.number += 1
        number, answer = self.number, queue.Queue()
        self.waiting[number] = answer
        message = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        said = answer.get(timeout=PATIENCE)
        assert "error" not in said, f"{method}: {said['error']}"
        return said["result"]

    def page(self, width=1024, height=800, dark=False) -> "Page":
        return Page(self, width, height, dark)

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Page:
    def __init__(self, browser, width, height, dark):
        self.browser, self.errors, self.requests = browser, [], []
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.target = target
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def hear(self, method, params):
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"] + " " + params["entry"].get("url", ""))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.errors.append(str(params["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def open(self, address, ready="document.querySelector('main') !== null"):
        self.call("Page.navigate", url=address)
        self.wait(f"document.readyState === 'complete' && ({ready})")
        return self

    def evaluate(self, script):
        said = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in said, f"{script}: {said['exceptionDetails']}"
        return said["result"].get("value")

    def wait(self, condition, patience=PATIENCE):
        end = time.monotonic() + patience
        while not self.evaluate(f"Boolean({condition})"):
            assert time.monotonic() < end, f"never came to be: {condition}\n{self.errors}\n{self.evaluate('document.body.innerText.slice(0, 2000)')}"
            time.sleep(0.05)

    def text(self, selector="body"):
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText")

    def click(self, selector):
        """With the mouse, where the element is seen."""
        x, y = self.evaluate(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}}); const b = e.getBoundingClientRect();"
                             " return [b.left + b.width / 2, b.top + b.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, name):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode={"Tab": 9, "Enter": 13, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39}.get(name, 0))

    def screenshot(self, file, whole=True, most=20000, form="png", **more):
        if whole:
            # The window itself is made as tall: capturing beyond it lays the page out anew at another width for a moment.
            self.resize(self.evaluate("innerWidth"), min(most, self.evaluate("document.documentElement.scrollHeight")))
            self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100))))")
        data = self.call("Page.captureScreenshot", format=form, captureBeyondViewport=not whole, **more)["data"]
        pathlib.Path(file).write_bytes(base64.b64decode(data))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
