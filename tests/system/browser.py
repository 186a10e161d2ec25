"""A headless Chromium, driven over the pipe of its DevTools protocol: no driver, no port, no
packages of Python's.  A context manager with one page.

Commands go out and events come in as JSON that ends in a zero byte, on file descriptors 3 and 4.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

from harness import PATIENCE_S, wait_until

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FIRST_FREE_FD = 10  # above those that the browser's side takes

# Nothing but what the test asks for: no updates, no start page, no sandbox that needs privileges.
OPTIONS = (
    "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check",
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--mute-audio", "--hide-scrollbars", "--no-proxy-server",
)


class NoBrowser(Exception):
    """There is no Chromium here, or it does not start."""


class PageError(Exception):
    """The page refused: a command that failed, or a script that threw."""


def program():
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """What happens in the page is kept: requests (URLs), and complaints of its console."""

    def __init__(self):
        self.requests, self.complaints = [], []
        self.mocks = {}  # a URL's end: what is answered instead
        self.answers, self.next_id, self.session, self.buffer = {}, 1, None, b""

    def __enter__(self):
        if program() is None:
            raise NoBrowser("there is no Chromium here (Debian: package chromium)")
        self.folder = tempfile.mkdtemp(prefix="bellwether-browser.")
        self.start()
        try:
            self.open_page()
        except (OSError, PageError) as error:
            self.close()
            raise NoBrowser(f"Chromium does not start: {error}") from error
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None:
            print("--- the browser's last requests and complaints",
                  *self.requests[-10:], *self.complaints[-20:], sep="\n")
        self.close()

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)  # a group of its own: all its processes
        self.process.wait()
        os.close(self.input)
        os.close(self.output)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        inner_input, self.input = map(self.away, os.pipe())
        self.output, inner_output = map(self.away, os.pipe())

        def take_pipes():
            os.dup2(inner_input, 3)
            os.dup2(inner_output, 4)

        # preexec_fn: pass_fds cannot choose numbers; no thread of ours runs yet.
        self.process = subprocess.Popen(
            [program(), *OPTIONS, f"--user-data-dir={self.folder}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self.folder}, preexec_fn=take_pipes, pass_fds=(3, 4),
            start_new_session=True)
        os.close(inner_input)
        os.close(inner_output)

    @staticmethod
    def away(fd):
        """The same pipe under a number that is not in the way."""
        moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE_FD)
        os.close(fd)
        return moved

    def open_page(self):
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.command("Target.attachToTarget", targetId=target,
                                    flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.command(f"{domain}.enable")

    # --- the protocol ---

    def command(self, method, **parameters):
        number = self.send(method, **parameters)
        deadline = time.monotonic() + PATIENCE_S
        while number not in self.answers:
            self.receive(deadline - time.monotonic())
        answer = self.answers.pop(number)
        if "error" in answer:
            raise PageError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def send(self, method, **parameters):
        number, self.next_id = self.next_id, self.next_id + 1
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.input, data):]
        return number

    def receive(self, patience_s):
        """Takes in what comes, within so long."""
        if not select.select([self.output], [], [], max(patience_s, 0))[0]:
            raise TimeoutError(f"Chromium says nothing for {PATIENCE_S} s")
        piece = os.read(self.output, 1 << 16)
        if not piece:
            raise OSError("Chromium has ended")
        *messages, self.buffer = (self.buffer + piece).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self.answers[message["id"]] = message
            else:
                self.on_event(message["method"], message["params"])

    def on_event(self, method, event):
        if method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(event["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning"):
            self.complaints.append(json.dumps(event["args"]))
        elif method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"{event['entry']['source']}: {event['entry']['text']} "
                                   f"{event['entry'].get('url', '')}")
        elif method == "Fetch.requestPaused":
            self.answer_instead(event)

    def answer_instead(self, event):
        for end, body in self.mocks.items():
            if event["request"]["url"].endswith(end):
                self.send("Fetch.fulfillRequest", requestId=event["requestId"], responseCode=200,
                          responseHeaders=[{"name": "Content-Type", "value": "application/json"}],
                          body=base64.b64encode(json.dumps(body).encode()).decode())
                return
        self.send("Fetch.continueRequest", requestId=event["requestId"])

    # --- the page ---

    def mock(self, mocks):
        """From now on requests whose URL ends so are answered with this JSON."""
        self.mocks = mocks
        self.command("Fetch.enable", patterns=[{"urlPattern": f"*{end}"} for end in mocks])

    def go(self, url):
        if error := self.command("Page.navigate", url=url).get("errorText"):
            raise PageError(f"{url}: {error}")
        self.await_true("document.readyState === 'complete'")

    def run(self, script):
        """The value of an expression; a promise's is waited for."""
        answer = self.command("Runtime.evaluate", expression=script, returnByValue=True,
                              awaitPromise=True, userGesture=True)
        if "exceptionDetails" in answer:
            raise PageError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def await_true(self, script):
        return wait_until(f"in the page: {script}", lambda: self.run(script))

    def text(self, selector):
        """As it is seen; "" when there is none, or it is hidden."""
        return self.run(f"""(() => {{
            const element = document.querySelector({json.dumps(selector)});
            return element?.checkVisibility() ? element.innerText : "";
        }})()""")

    def await_text(self, selector, text):
        wait_until(f"{selector} says {text!r}", lambda: text in self.text(selector))

    def press(self, key):
        """Enter, Tab, Escape: as from a keyboard."""
        codes = {"Enter": 13, "Tab": 9, "Escape": 27, " ": 32}
        text = {"Enter": "\r", " ": " "}.get(key, "")
        for kind in ("keyDown", "keyUp"):
            self.command("Input.dispatchKeyEvent", type=kind, key=key, code=key, text=text,
                         windowsVirtualKeyCode=codes[key])

    def type(self, text):
        """Into what has the focus."""
        self.command("Input.insertText", text=text)

    def click(self, selector):
        """With the mouse, in the middle: what lies over it would get it instead."""
        x, y = self.run(f"""(() => {{
            const element = document.querySelector({json.dumps(selector)});
            element.scrollIntoView({{block: "center"}});
            const box = element.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
                         clickCount=1)

    def set_screen(self, width, height, is_dark=False):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height,
                     deviceScaleFactor=1, mobile=False)
        self.command("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"}])

    def picture(self, file):
        """The whole page as a PNG."""
        data = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(data["data"]))
