#!/usr/bin/env python3
"""The page of /ui in a real browser, at real sidecars: what it shows is so, what is pressed
happens, and nothing that a stranger says becomes part of it.

usage: ui_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import base64
import contextlib
import hashlib
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples/apps/python"))
import attachment  # noqa: E402: from the examples
from browser import Browser, NoBrowser
from harness import wait_until
from system_case import CALM, SystemCase, main

# The highest leads soon, though it came last.
SOON = 'preempt_delay = "200ms"\n'

PHONE = (360, 740)
DESK = (1280, 900)
MOST_STREAMS = 128
TOPICS = ("leader", "members", "status", "history", "explain")

# As long as names get, without a place to break them.
LONG_NAME = "n" + "o" * 62 + "n"
HOSTILE = '<img src=x onerror="window.isHit=true">'
KEPT = ("time", "since", "id")  # strings that are no free text

# The texts and bars whose contrast with what is behind them is too low.
FAINT = """(() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = (colour) => channels(colour).slice(0, 3).map((value) => value / 255)
    .map((value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0);
  const isClear = (colour) => channels(colour)[3] === 0;
  const behind = (element) => {
    while (element && isClear(getComputedStyle(element).backgroundColor)) {
      element = element.parentElement;
    }
    return element ? getComputedStyle(element).backgroundColor : "rgb(255, 255, 255)";
  };
  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const isSeen = (element) => element.getClientRects().length > 0;
  const hasText = (element) => [...element.childNodes].some((node) =>
    node.nodeType === Node.TEXT_NODE && node.textContent.trim() !== "");
  const texts = [...document.querySelectorAll("body *")].filter(isSeen).filter(hasText)
    .map((element) => [contrast(getComputedStyle(element).color, behind(element)), 4.5, element]);
  const bars = [...document.querySelectorAll(".bar i")].filter(isSeen).map((element) =>
    [contrast(behind(element), behind(element.parentElement)), 3, element]);
  if (texts.length < 20) return ["hardly anything is to be seen"];
  return [...texts, ...bars].filter(([found, wanted]) => !(found >= wanted))
    .map(([found, wanted, element]) => `${element.outerHTML.slice(0, 60)}: ${found.toFixed(2)}`);
})()"""


class Page(SystemCase):
    @contextlib.contextmanager
    def page_of(self, number, extra="", api="", **options):
        """A led group and the page of one sidecar, which shows it; (group, sidecar, browser).
        `api` goes into the table of that name."""
        with contextlib.ExitStack() as stack:
            try:
                browser = stack.enter_context(Browser())
            except NoBrowser as error:
                raise unittest.SkipTest(str(error)) from error
            group = stack.enter_context(self.group(extra=SOON + CALM + extra, **options))
            for sidecar in group.sidecars:
                sidecar.write_config(group.config_of(sidecar).replace(
                    "[metrics]", f"{api}\n[metrics]"))
            group.start()
            leader = group.await_leader(group.sidecars[-1])
            sidecar = group.sidecars[number]
            browser.set_screen(*DESK)
            browser.go(f"{sidecar.api_url}/ui")
            self.await_page(browser, leader)
            yield group, sidecar, browser

    def await_page(self, browser, leader):
        """It shows this leader, live, in all its parts."""
        browser.await_text("#headline", f"{leader.name} leads")
        browser.await_text("#link", "live")
        browser.await_text("#members .is-leader", leader.name)

    def check_clean(self, sidecar, browser):
        self.assertEqual(browser.complaints, [])
        strangers = [url for url in browser.requests
                     if not url.startswith((f"{sidecar.api_url}/", "data:"))]
        self.assertEqual(strangers, [])

    def obstacle(self, browser, command):
        """Why it cannot be given, as is said beside its button; None: it can."""
        if browser.run(f"document.getElementById('{command}').ariaDisabled") == "true":
            return browser.text(f"#{command}-why")
        return None

    def open_dialog(self, browser, command):
        wait_until(f"{command} can be given", lambda: self.obstacle(browser, command) is None)
        browser.click(f"#{command}")
        browser.await_true("document.getElementById('dialog').open")

    # --- what is shown ---

    def test_another_leader_is_shown_live_and_with_its_election(self):
        with self.page_of(1) as (group, second, browser):
            leader = group.sidecars[-1]
            self.assertIn("3 of 3 alive", browser.text("dl.facts"))
            leader.kill()
            group.await_leader(second)
            self.await_page(browser, second)
            browser.await_text("#members [data-state=down]", leader.name)
            browser.await_text("#members [data-state=down]", "its host refuses connections")
            election = second.get("/v1/history")["elections"][0]
            self.assertEqual((election["winner"]["name"], election["result"]),
                             (second.name, "won"))
            browser.await_text("#elections li", f"{second.name} won epoch {election['epoch']}")
            coordinators = election["messages"]["coordinator"]
            browser.await_text("#elections li", f"{coordinators} COORDINATOR")
            self.assertIn(str(second.epoch()), browser.text("dl.facts"))
            self.assertIn("It ranks below", browser.text("#members li:last-child"))
            self.check_clean(second, browser)

    def test_the_application_is_shown_and_why_nobody_leads_without_any(self):
        with self.page_of(1) as (group, second, browser):
            self.assertNotIn("APPLICATION", browser.text("dl.facts").upper())
            place = str(second.socket_file)
            with attachment.attach(place, "worker", score=-42):
                browser.await_text("dl.facts", "worker attached, score -42")
                browser.await_text("#members", "-42")
            for sidecar in group.sidecars:
                sidecar.write_config(sidecar.config_file.read_text() +
                                     "[application]\nattach = true\n")
            browser.await_text("#headline", "Nobody leads")
            browser.await_text("#notices", "Nobody's application is able, so nobody leads.")
            browser.await_text("#members", "no application")
            browser.await_text("dl.facts", "none is attached, score -42")
            with attachment.attach(place, "worker"):
                self.await_page(browser, second)
            self.check_clean(second, browser)

    def test_a_voter_without_its_vote_says_so_until_it_has_it_again(self):
        with self.page_of(0, voters=3) as (_, sidecar, browser):
            browser.await_text("dl.facts", "in force")
            sidecar.kill()
            (sidecar.state_folder / "state").unlink()
            sidecar.start()
            browser.await_true("document.querySelector('main').innerText.match("
                               "/forgotten[^]*This node is not ready: this voter has no vote/)")
            wait_until("it votes again", sidecar.is_ready, 60)
            browser.await_text("dl.facts", "in force")
            self.assertNotIn("not ready", browser.text("#notices"))

    def test_a_sidecar_that_is_gone_is_said_to_be_and_comes_back(self):
        with self.page_of(0) as (group, sidecar, browser):
            sidecar.kill()
            browser.await_text("#alarm", f"The sidecar of {sidecar.name} cannot be reached")
            browser.await_text("#alarm", "s ago")
            self.assertEqual(browser.text("#link"), "unreachable")
            self.assertTrue(browser.run("document.title").startswith("unreachable"))
            self.assertTrue(browser.run("document.querySelector('main.stale') !== null"))
            self.assertEqual(self.obstacle(browser, "elect"), "the sidecar cannot be reached")
            self.assertEqual(browser.run(FAINT), [])
            sidecar.start()
            group.await_leader(group.sidecars[-1])
            self.await_page(browser, group.sidecars[-1])
            self.assertEqual(browser.text("#alarm"), "")
            # And the events are heard again.
            group.sidecars[-1].kill()
            group.await_leader(group.sidecars[1])
            self.await_page(browser, group.sidecars[1])

    def test_a_hidden_page_asks_nothing(self):
        with self.page_of(0) as (group, sidecar, browser):
            self.hide(browser, True)
            browser.await_true("!isAsking")
            group.sidecars[-1].kill()
            group.await_leader(group.sidecars[1])
            asked = len(browser.requests)
            browser.run("new Promise((resolve) => setTimeout(resolve, kPollMs + 500))")
            self.assertEqual(len(browser.requests), asked)
            self.assertIn(group.sidecars[-1].name, browser.text("#headline"))
            self.hide(browser, False)
            self.await_page(browser, group.sidecars[1])
            self.check_clean(sidecar, browser)

    @staticmethod
    def hide(browser, is_hidden):
        browser.run(f"""Object.defineProperty(document, "hidden",
            {{value: {json.dumps(is_hidden)}, configurable: true}});
            document.dispatchEvent(new Event("visibilitychange"))""")

    def test_without_a_place_among_the_events_it_asks_again_and_again(self):
        with self.page_of(0) as (group, sidecar, browser), contextlib.ExitStack() as others:
            self.hide(browser, True)  # it leaves
            self.take_all_streams(sidecar, others)
            self.hide(browser, False)
            browser.await_text("#link", "polling")
            group.sidecars[-1].kill()
            group.await_leader(group.sidecars[1])
            browser.await_text("#headline", f"{group.sidecars[1].name} leads")
            others.close()
            self.await_page(browser, group.sidecars[1])

    @staticmethod
    def take_all_streams(sidecar, stack):
        """That of the page, too, which is free when the sidecar has seen it leave."""
        taken = []

        def are_taken():
            connection = sidecar.connect(timeout_s=5)
            connection.request("GET", "/v1/events", headers={"Host": "localhost"})
            response = stack.enter_context(connection.getresponse())
            if response.status == 200:
                taken.append(response)
            return len(taken) == MOST_STREAMS
        wait_until("all places among the events are taken", are_taken)

    def test_of_many_elections_the_last_are_shown_and_all_on_request(self):
        with self.page_of(2) as (_, sidecar, browser):
            history = sidecar.get("/v1/history")
            history["elections"] = [{**history["elections"][0], "epoch": epoch}
                                    for epoch in range(256, 0, -1)]
            browser.mock({"/v1/history": history})
            rows = "document.querySelectorAll('#elections li').length"
            browser.await_text("#more", "Show all 256")
            self.assertEqual(browser.run(rows), 6)
            browser.click("#more")
            self.assertEqual(browser.run(rows), 256)
            self.assertIn("epoch 1", browser.text("#elections li:last-child"))
            browser.click("#more")
            self.assertEqual(browser.run(rows), 6)
            self.assertIn("epoch 256", browser.text("#elections li"))
            self.check_clean(sidecar, browser)

    # --- commands ---

    def test_step_down_is_carried_out_and_then_refused_with_its_reason(self):
        with self.page_of(2) as (group, sidecar, browser):
            self.open_dialog(browser, "step-down")
            browser.press("Escape")
            self.open_dialog(browser, "step-down")
            browser.click("#cancel")
            browser.await_true("!document.getElementById('dialog').open")
            self.open_dialog(browser, "step-down")
            browser.run("document.getElementById('hold').value = 'soon'")
            browser.press("Enter")
            browser.await_text("#answer", "refused (400): hold is a duration")
            self.assertEqual(sidecar.count("bellwether_http_requests_total", route="/v1/step-down"),
                             1, "only what was confirmed is sent")
            self.assertTrue(sidecar.is_leader())
            self.open_dialog(browser, "step-down")
            browser.run("document.getElementById('hold').value = '1h'")
            browser.click("#confirm")
            group.await_leader(group.sidecars[1])
            browser.await_text("#answer", "stepping down, on hold for 1h")
            self.await_page(browser, group.sidecars[1])
            wait_until("no command can be given", lambda: all(
                self.obstacle(browser, name) for name in ("step-down", "transfer", "elect")))
            self.assertIn(f"{group.sidecars[1].name} does", self.obstacle(browser, "step-down"))
            self.assertIn("It stepped down", self.obstacle(browser, "elect"))
            browser.click("#step-down")
            self.assertFalse(browser.run("document.getElementById('dialog').open"))

    def test_transfer_and_elect_by_keyboard(self):
        with self.page_of(2) as (group, sidecar, browser):
            lowest, _, leader = group.sidecars
            wait_until("transfer is possible", lambda: not self.obstacle(browser, "transfer"))
            browser.run("document.getElementById('transfer').focus()")
            browser.press("Enter")
            browser.await_true("document.getElementById('dialog').open")
            self.assertEqual(browser.run("[...document.getElementById('to').options]"
                                         ".map((option) => option.text)"), ["n1", "n0"])
            browser.run(f"document.getElementById('to').value = '{lowest.name}'")
            for _ in range(2):  # past Cancel
                browser.press("Tab")
            browser.press("Enter")
            group.await_leader(lowest)
            browser.await_text("#answer", f"handing over, to {lowest.name}")
            self.await_page(browser, lowest)
            self.open_dialog(browser, "elect")
            browser.run("document.getElementById('confirm').focus()")
            browser.press("Enter")
            group.await_leader(leader)
            browser.await_text("#answer", "election started")
            self.await_page(browser, leader)
            browser.await_text("#elections li", "an operator asked")
            self.check_clean(sidecar, browser)

    def elect(self, browser, token):
        """Confirms it, with the token typed; None: nothing is.  Whether the page asks for one."""
        self.open_dialog(browser, "elect")
        is_asked_for = browser.run("byId('token').checkVisibility()")
        if token is not None:
            browser.run("byId('token').focus()")
            browser.type(token)
        browser.click("#confirm")
        browser.await_true("!byId('dialog').open && !isCommanding")
        return is_asked_for

    def test_a_token_is_asked_for_when_it_is_wanted_and_kept_in_memory_alone(self):
        tokens = wrong, right = os.urandom(16).hex(), os.urandom(16).hex()
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="bellwether-test."))
        file = pathlib.Path(folder) / "tokens"
        file.touch(mode=0o600)
        file.write_text(f"{right}\n")
        with self.page_of(2, api=f'token_file = "{file}"') as (_, sidecar, browser):
            self.assertFalse(self.elect(browser, None))
            browser.await_text("#answer", "refused (401): a command needs a token")
            self.assertTrue(self.elect(browser, wrong))
            browser.await_text("#answer", "refused (401): this token is not in")
            self.assertTrue(self.elect(browser, f" {right} "))  # that one is forgotten
            browser.await_text("#answer", "election started")
            self.assertTrue(self.elect(browser, None))  # and this one is not
            wait_until("both refusals and both elections were counted", lambda: [
                sidecar.count("bellwether_http_requests_total", route="/v1/elect", code=code)
                for code in ("401", "200")] == [2, 2])
            self.assertEqual(browser.run("byId('token').type"), "password")
            for place in ("document.documentElement.outerHTML", "byId('token').value",
                          "location.href", "JSON.stringify([localStorage, sessionStorage])"):
                found = browser.run(place)
                self.assertFalse([token for token in tokens if token in found], place)
            self.assertFalse([url for url in browser.requests for token in tokens if token in url])
            browser.go(f"{sidecar.api_url}/ui")
            self.assertEqual(browser.run("token"), "")

    def test_another_origins_page_cannot_give_commands(self):
        with self.page_of(2) as (group, sidecar, browser):
            browser.go(f"{group.sidecars[0].api_url}/v1/leader")  # a page without a policy
            for name in ("step-down", "elect"):
                browser.run(f"fetch('{sidecar.api_url}/v1/{name}', {{method: 'POST', "
                            "mode: 'no-cors'})")
                self.assertEqual(sidecar.count("bellwether_http_requests_total",
                                               route=f"/v1/{name}", code="403"), 1)
            self.assertTrue(sidecar.is_leader())

    # --- strangers' words, small screens, weak eyes ---

    def answers(self, sidecar, text):
        """Mocks: what the sidecar says, with another text in the place of each."""
        def changed(value, key=""):
            if isinstance(value, dict):
                return {name: changed(inner, name) for name, inner in value.items()}
            if isinstance(value, list):
                return [changed(inner, key) for inner in value]
            return text if isinstance(value, str) and key not in KEPT else value
        answers = {f"/v1/{topic}": sidecar.get(f"/v1/{topic}") for topic in TOPICS}
        self.assertNotIn(None, answers.values())
        return {path: changed(answer) for path, answer in answers.items()}

    def test_what_the_api_says_is_text_and_never_markup(self):
        with self.page_of(2) as (_, sidecar, browser):
            answers = self.answers(sidecar, HOSTILE)
            answers["/v1/status"]["config"]["mismatches"] = [HOSTILE]
            browser.mock(answers)
            for place in ("#headline", "#members", "#elections", "dl.facts", "#notices"):
                browser.await_text(place, HOSTILE)
            browser.await_text("#step-down-why", HOSTILE)
            self.assertEqual(browser.run("document.querySelectorAll('img').length"), 0)
            self.assertFalse(browser.run("'isHit' in window"))
            self.check_clean(sidecar, browser)

    def test_it_fits_a_phone_and_can_be_read_in_light_and_dark(self):
        with self.page_of(2) as (_, sidecar, browser):
            browser.await_true("document.querySelectorAll('.bar i').length > 0")
            self.check_screens(browser)
            self.open_dialog(browser, "step-down")
            self.check_screens(browser)
            browser.press("Escape")
            browser.mock(self.answers(sidecar, LONG_NAME))
            browser.await_text("#headline", LONG_NAME)
            browser.await_text("#elections", LONG_NAME)
            self.check_screens(browser)
            self.check_clean(sidecar, browser)

    def check_screens(self, browser):
        for width, height in (PHONE, DESK):
            for is_dark in (False, True):
                with self.subTest(width=width, is_dark=is_dark):
                    browser.set_screen(width, height, is_dark)
                    self.assertLessEqual(
                        browser.run("document.documentElement.scrollWidth"), width)
                    self.assertEqual(browser.run(FAINT), [])
                    page = browser.run("getComputedStyle(document.body).backgroundColor")
                    brightness = sum(map(int, re.findall(r"\d+", page)[:3]))
                    self.assertEqual(brightness < 200, is_dark, page)


class Sent(SystemCase):
    """What needs no browser."""

    def test_the_policy_has_the_hashes_of_the_pages_style_and_scripts(self):
        with self.group(1) as group:
            group.start()
            group.await_leader()
            status, headers, page = group.sidecars[0].request("GET", "/ui")
            self.assertEqual(status, 200)
            policy = headers["Content-Security-Policy"]
            for tag, count in (("style", 1), ("script", 2)):
                parts = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
                self.assertEqual(len(parts), count)
                hashes = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
                          for part in parts]
                listed = " ".join(f"'sha256-{digest}'" for digest in hashes)
                self.assertIn(f"; {tag}-src {listed};", policy)
            self.assertEqual(headers["Cache-Control"], "no-store")
            _, head, body = group.sidecars[0].request("HEAD", "/ui")
            self.assertEqual((head["Content-Length"], body), (str(len(page.encode())), ""))


if __name__ == "__main__":
    main()
