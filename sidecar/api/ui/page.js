// What keeps the page true.  /v1/events tells of another leader at once; everything else is asked
// for every 2 s, and after an event.  One question is under way at a time, and none while nobody
// looks: a hidden page holds no connection, of which a browser has six for a server.
"use strict";

const kPollMs = 2000;
const kSoonMs = 100; // after an event, when its consequences are known, too
const kPatienceMs = 4000;
const kTopics = ["leader", "members", "status", "history", "explain"];

let seen = null; // the last answers, by topic
let seenAt = null; // when they came
let events = null; // the stream of leaders
let timer = 0; // of the next round
let isAsking = false;
let isOutdated = false; // something happened while asking
let isReachable = false;
let failure = ""; // why not, in the browser's words
let isCommanding = false;
let isTokenWanted = false; // a command was refused without one
let token = ""; // nowhere but here
let isWholeHistory = false;

// --- asking ---

async function ask(topic) {
  const response = await fetch(`/v1/${topic}`, { signal: AbortSignal.timeout(kPatienceMs) });
  if (!response.ok) throw new Error(`${response.status} to /v1/${topic}`);
  return response.json();
}

async function askForAll() {
  if (isAsking) {
    isOutdated = true;
    return;
  }
  isAsking = true;
  isOutdated = false;
  try {
    const answers = {};
    for (const topic of kTopics) answers[topic] = await ask(topic);
    seen = answers;
    seenAt = Date.now();
    isReachable = true;
    openEvents();
  } catch (error) {
    isReachable = false;
    failure = error.message;
  }
  isAsking = false;
  askIn(isOutdated && isReachable ? kSoonMs : kPollMs);
  show();
}

function askIn(ms) {
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(askForAll, ms);
}

// Those that break come back by themselves, with the changes missed; those that are refused do not.
function openEvents() {
  if (document.hidden || (events && events.readyState !== EventSource.CLOSED)) return;
  events = new EventSource("/v1/events");
  events.onopen = showReach;
  events.addEventListener("leader", (event) => {
    showLeader(JSON.parse(event.data));
    isOutdated = true;
    if (!isAsking) askIn(kSoonMs);
  });
  events.onerror = () => {
    showReach();
    if (!isAsking) askIn(kSoonMs);
  };
}

function onVisibilityChange() {
  if (!document.hidden) {
    askForAll();
    return;
  }
  clearTimeout(timer);
  events?.close();
  events = null;
}

// --- showing ---

function show() {
  showReach();
  if (!seen) return;
  if (isReachable) {
    showLeader(seen.leader);
    showStatus(seen);
    showMembers(seen);
    showElections(seen, isWholeHistory);
  }
  showCommands(Object.fromEntries(kNames.map((name) => [name, obstacle(name)])));
}

function showReach() {
  const isLive = events?.readyState === EventSource.OPEN;
  showLink(!isReachable ? "unreachable" : isLive ? "live" : "polling");
  const whom = seen ? `The sidecar of ${seen.status.node.name}` : "The sidecar";
  showAlarm(isReachable ? "" : `${whom} cannot be reached: ${failure}.`, seenAt);
  if (!isReachable) document.title = "unreachable · Bellwether";
}

// --- commands ---

function successors() {
  return seen.members.members.filter((member) =>
    !member.is_self && member.state === "alive" && member.may_lead);
}

function departed() {
  return seen.members.members.filter((member) => member.state !== "alive");
}

// `choose`: what the choice of a member is called, and of which; `path`: where it is not the name.
const kCommands = {
  "step-down": {
    title: "Step down?",
    text: () => "This node gives up leadership, and the next-highest member takes over.",
    body: () => ({ hold: byId("hold").value.trim() }),
  },
  transfer: {
    title: "Transfer leadership?",
    text: () => "Nobody takes over from the member you choose until it is gone, whatever its rank.",
    choose: ["Hand over to", successors],
    body: () => ({ to: byId("to").value }),
  },
  elect: {
    title: "Hold an election?",
    text: () => `An election now; ${seen.leader.leader?.name ?? "any member"} may well win it.`,
    body: () => ({}),
  },
  forget: {
    title: "Forget a member?",
    text: () => "For one that is gone for good. One that comes back is a member again.",
    choose: ["Forget", departed],
    path: () => `members/${encodeURIComponent(byId("to").value)}/forget`,
    body: () => ({}),
  },
};

// Why a command cannot be given now; "" when it can.
function obstacle(name) {
  if (!isReachable) return "the sidecar cannot be reached";
  if (isCommanding) return "the sidecar is being asked";
  const { status } = seen;
  if (name === "elect") {
    if (status.may_lead) return "";
    const self = seen.explain.members.find((member) => member.id === status.node.id);
    return `this node may not lead now${self ? `. ${self.why}` : ""}`;
  }
  if (status.role !== "leading") {
    const leader = status.leader?.name;
    const who = leader ? `${leader} does: give the command there` : "nobody does";
    return `this node does not lead; ${who}`;
  }
  if (name === "transfer" && successors().length === 0) return "no other member can take over";
  if (name === "forget" && departed().length === 0) return "no member is gone";
  return "";
}

function askWhether(name) {
  if (!seen || obstacle(name) !== "") return;
  const command = kCommands[name];
  setText(byId("dialog-title"), command.title);
  setText(byId("dialog-text"), command.text());
  setText(byId("confirm"), byId(name).textContent.replace("…", ""));
  byId("hold-field").hidden = name !== "step-down";
  byId("token-field").hidden = !isTokenWanted;
  byId("token").value = token;
  const [label, choice] = command.choose ?? ["", () => []];
  byId("to-field").hidden = label === "";
  setText(byId("to-label"), label);
  byId("to").replaceChildren(...choice().map((member) => new Option(member.name)));
  const dialog = byId("dialog");
  dialog.returnValue = ""; // what Escape leaves as it is
  dialog.onclose = () => {
    const isConfirmed = dialog.returnValue === "confirm";
    dialog.returnValue = ""; // the event of an earlier closing may come late, and then there are two
    token = byId("token").value.trim();
    byId("token").value = "";
    if (isConfirmed) give(name, command.path?.() ?? name, command.body());
  };
  dialog.showModal();
}

async function give(name, path, body) {
  isCommanding = true;
  setText(byId("answer"), "");
  show();
  byId("answer").textContent = await answerTo(name, path, body);
  isCommanding = false;
  show();
  askForAll();
}

// In words; never fails.
async function answerTo(name, path, body) {
  try {
    const response = await fetch(`/v1/${path}`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        ...(token && { Authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(kPatienceMs),
    });
    const answer = await response.json();
    if (response.status === 401) {
      isTokenWanted = true;
      token = "";
    }
    if (!response.ok) return `${name} was refused (${response.status}): ${answer.error}`;
    const details = [answer.to && `to ${answer.to}`, answer.name, answer.hold && `on hold for ${answer.hold}`];
    return `${name}: ${[answer.result, ...details.filter(Boolean)].join(", ")}`;
  } catch {
    return `${name}: no answer came, so whether it was done is not known`;
  }
}

const kNames = Object.keys(kCommands);
for (const name of kNames) byId(name).addEventListener("click", () => askWhether(name));
byId("cancel").addEventListener("click", () => byId("dialog").close());
byId("more").addEventListener("click", () => {
  isWholeHistory = !isWholeHistory;
  show();
});
document.addEventListener("visibilitychange", onVisibilityChange);
setInterval(() => {
  if (!document.hidden) showAges();
}, 1000);
showCommands(Object.fromEntries(kNames.map((name) => [name, "connecting"])));
if (!document.hidden) askForAll();
