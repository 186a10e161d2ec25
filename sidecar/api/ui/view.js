// What is known becomes what is seen.  All that comes from the API is a stranger's word: it goes in
// as text, never as markup.  Rows stay the same elements while they are about the same thing, so
// that a selection or a screen reader's place survives the next answer.
"use strict";

const kMessageKinds = ["election", "answer", "handover", "coordinator"];
const kElectionsAtFirst = 6;

const kTriggers = new Map([
  ["started", "came up and found no leader"],
  ["leader_lost", "the leader was lost"],
  ["resigned", "the leader gave up"],
  ["application_lost", "its application was gone"],
  ["application_unhealthy", "its application did not work"],
  ["outranks", "outranks the leader"],
  ["operator", "an operator asked"],
  ["retry", "tried again"],
  ["asked", "asked by another member"],
]);

const kCommandHints = {
  "step-down": "this node gives up, and stays out for a while",
  transfer: "this node hands over to a member of your choice",
  elect: "this node calls an election now",
  forget: "a member that is gone for good is struck off the list",
};

const byId = (id) => document.getElementById(id);

// --- words ---

function spanText(ms) {
  if (ms < 1000) return `${Math.floor(ms)} ms`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

function shortNumber(number) {
  return String(Number(number.toFixed(number < 10 ? 1 : 0)));
}

const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

// The clock is the browser's, which may be behind the sidecar's.
function agoText(time) {
  const ms = Math.max(0, Date.now() - time);
  return ms < 1000 ? "just now" : `${spanText(ms)} ago`;
}

// As logs are searched by: with the date when it was not today.
function clockText(time) {
  const when = new Date(time);
  const isToday = when.toDateString() === new Date().toDateString();
  return isToday ? when.toLocaleTimeString() : when.toLocaleString();
}

// --- elements ---

const slot = (root, name) => root.querySelector(`[data-slot="${name}"]`);

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// A slot without a text is not there; nor is its <div> in a list of facts.
function fill(root, texts) {
  for (const [name, value] of Object.entries(texts)) {
    const element = slot(root, name);
    const isEmpty = value === null || value === undefined || value === "";
    setText(element, isEmpty ? "" : String(value));
    (element.matches("dd") ? element.parentElement : element).hidden = isEmpty;
  }
}

function showTime(element, time) {
  element.dateTime = time;
  setText(element, agoText(Date.parse(time)));
}

// Called once a second: what is past is past for longer.
function showAges() {
  for (const element of document.querySelectorAll("time[datetime]")) {
    setText(element, agoText(Date.parse(element.dateTime)));
  }
}

// Makes the rows of a list those of `items`, in this order.
function showRows(list, templateId, items, keyOf, showItem) {
  const rows = new Map([...list.children].map((row) => [row.dataset.key, row]));
  items.forEach((item, place) => {
    const key = keyOf(item);
    const row = rows.get(key) ?? byId(templateId).content.firstElementChild.cloneNode(true);
    rows.delete(key);
    row.dataset.key = key;
    if (list.children[place] !== row) list.insertBefore(row, list.children[place] ?? null);
    showItem(row, item);
  });
  rows.forEach((row) => row.remove());
}

// `most`: of how many messages a full bar speaks.
function showBar(row, messages, most) {
  const bar = row.querySelector(".bar");
  const total = kMessageKinds.reduce((sum, kind) => sum + messages[kind], 0);
  bar.hidden = total === 0;
  bar.style.width = `${(100 * total) / most}%`;
  [...bar.children].forEach((part, i) => {
    part.style.flexGrow = messages[kMessageKinds[i]];
    part.hidden = messages[kMessageKinds[i]] === 0;
  });
}

// --- who leads ---

function showLeader(leader) {
  const name = leader.leader?.name;
  document.title = `${name ? `${name} leads` : "nobody leads"} · ${leader.group}`;
  byId("main").classList.toggle("leaderless", !name);
  fill(document, {
    group: leader.group,
    headline: name ? `${name} leads` : "Nobody leads",
    epoch: leader.epoch,
    guard: leader.guard,
    "since-clock": clockText(leader.since),
    reason: ` · ${leader.reason}`,
  });
  showTime(slot(document, "since"), leader.since);
}

function validityText({ leader, status }) {
  if (!leader.leader) return "";
  if (status.guard === "none") return "unbounded: without a majority two may lead at once";
  if (status.role === "leading") {
    const { is_valid, valid_for_ms, length_ms } = status.lease;
    if (!is_valid) return "over: its lease was not renewed";
    const where = status.store ? ` in ${status.store.name}` : "";
    const lease = `lease of ${spanText(length_ms)}${where}`;
    if (valid_for_ms > 0) return `${spanText(valid_for_ms)} left of a ${lease}`;
    return `valid now, ${lease}`; // a proof of death may end it at any time
  }
  if (status.store) return recordText(status.store);
  if (!status.promise) return "the leader's lease, which only it knows";
  return `promised to ${status.promise.to} for another ${spanText(status.promise.ends_in_ms)}`;
}

// Who holds the store's record, as this node has seen it last.
function recordText({ name, record }) {
  if (!record) return `${name} has no record that was seen`;
  if (record.state === "released") return `${name} is released`;
  if (record.state === "unknown") return `${name} is held by nobody who is known`;
  const stranger = record.state === "stranger" ? ", which is not a member" : "";
  const age = record.is_watched ? `written ${spanText(record.unchanged_for_ms)} ago` :
    "when it was last looked at";
  return `${name} is held by ${record.holder}${stranger}, ${age}`;
}

// What is known of the application beside this sidecar; "" where nothing is asked of one, and none
// has said anything.
function applicationText(
  { attach, attached, health, is_healthy, why_not_healthy, draining, score },
) {
  const parts = [];
  if (attached.length > 0) parts.push(`${attached.join(", ")} attached`);
  else if (attach) parts.push("none is attached");
  if (health !== null) {
    const flaw = why_not_healthy ? `: ${why_not_healthy}` : "";
    parts.push(`${is_healthy ? "healthy" : "not healthy"}${flaw}`);
  }
  if (draining) {
    const whom = draining.waiting_for.length > 0 ? `, waits for ${draining.waiting_for.join(", ")}` : "";
    parts.push(`finishes for ${draining.reason}, ${spanText(draining.left_ms)} left${whom}`);
  }
  if (score !== 0) parts.push(`score ${score}`);
  return parts.join(", ");
}

const kWhyNotAble = new Map([["absent", "no application"], ["unhealthy", "application unhealthy"]]);

function noticesOf(status) {
  const notices = [...status.config.mismatches];
  if (status.why_nobody_leads) {
    const why = status.why_nobody_leads;
    notices.push(`${why[0].toUpperCase()}${why.slice(1)}, so nobody leads.`);
  }
  if (!status.is_ready) notices.push(`This node is not ready: ${status.why_not_ready}.`);
  if (status.variant !== status.active_variant) {
    notices.push(`This node wants variant ${status.variant}; the group elects by ` +
      `${status.active_variant} until all living members want the same.`);
  }
  if (status.config.pending_restart.length > 0) {
    notices.push(`Waits for a restart: ${status.config.pending_restart.join(", ")}.`);
  }
  if (status.vote?.why && status.lacks !== "vote") {
    notices.push(`This node's vote is ${status.vote.state}: ${status.vote.why}.`);
  }
  if (status.store?.trouble && status.lacks !== "store") {
    notices.push(`${status.store.name}: ${status.store.trouble}.`);
  }
  if (status.store?.record?.state === "stranger") notices.push(`${recordText(status.store)}.`);
  return notices;
}

function showStatus(seen) {
  const { status, members } = seen;
  const alive = members.members.filter((member) => member.state === "alive").length;
  fill(document, {
    "active-variant": status.active_variant,
    alive: `${alive} of ${members.members.length} alive`,
    self: [status.node.name, status.role,
      status.election_state === "idle" ? "" : `election: ${status.election_state}`]
      .filter(Boolean).join(", "),
    commanded: status.node.name,
    witness: status.node.name,
    validity: validityText(seen),
    vote: status.vote?.state ?? "",
    application: applicationText(status.application),
    software: `${status.plugin.name} ${status.plugin.version} in bellwether ${status.version}, ` +
      `up for ${spanText(status.uptime_ms)}.`,
  });
  showRows(byId("notices"), "notice", noticesOf(status), String,
    (row, text) => setText(row, text));
}

// --- members ---

function showMembers({ members, explain }) {
  const why = new Map(explain.members.map((member) => [member.id, member.why]));
  showRows(byId("members"), "member", members.members, (member) => member.id, (row, member) => {
    row.dataset.state = member.state;
    row.classList.toggle("is-leader", member.is_leader);
    fill(row, {
      name: member.name,
      state: member.state,
      leads: member.is_leader ? "leads" : "",
      "is-self": member.is_self ? "this node" : "",
      voter: member.voter ? "voter" : "",
      "why-not-able": kWhyNotAble.get(member.why_not_able) ?? member.why_not_able,
      why: why.get(member.id),
      priority: member.priority,
      score: member.score === 0 ? "" : member.score,
      heard: member.last_heard_ms === null ? "" : `${spanText(member.last_heard_ms)} ago`,
      rtt: member.rtt_ms === null ? "" : `${member.rtt_ms.toFixed(2)} ms`,
      version: member.version,
    });
  });
}

// --- elections ---

function outcomeText(election) {
  if (!election.winner) return "no leader came of it";
  if (election.result === "kept") return `${election.winner.name} stays, epoch ${election.epoch}`;
  return `${election.winner.name} won epoch ${election.epoch}`;
}

function courseText({ time, trigger, variant, duration_ms }) {
  const course = [clockText(time), kTriggers.get(trigger) ?? trigger, variant];
  if (duration_ms !== null) course.push(duration_ms < 1 ? "below 1 ms" : `${duration_ms} ms`);
  return course.join(" · ");
}

function countsText(messages) {
  const present = kMessageKinds.filter((kind) => messages[kind] > 0);
  if (present.length === 0) return "no messages";
  return present.map((kind) => `${messages[kind]} ${kind.toUpperCase()}`).join(" · ");
}

// One entry for each variant, with means.
function averagesOf(elections) {
  const variants = [...new Set(elections.map((election) => election.variant))].sort();
  return variants.map((variant) => {
    const held = elections.filter((election) => election.variant === variant);
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const messages = Object.fromEntries([...kMessageKinds, "total"].map((kind) =>
      [kind, mean(held.map((election) => election.messages[kind]))]));
    const durations = held.map((election) => election.duration_ms).filter((ms) => ms !== null);
    const time = durations.length > 0 ? `${shortNumber(mean(durations))} ms` : "no leader";
    return {
      variant, messages,
      text: `${plural(held.length, "election")}; on average ` +
        `${shortNumber(messages.total)} messages, ${time}`,
    };
  });
}

function showElections({ history }, isWhole) {
  const all = history.elections;
  const shown = isWhole ? all : all.slice(0, kElectionsAtFirst);
  const most = Math.max(...all.map((election) => election.messages.total), 1);
  showRows(byId("variants"), "variant-row", averagesOf(all), (entry) => entry.variant,
    (row, entry) => {
      fill(row, { variant: entry.variant, averages: entry.text });
      showBar(row, entry.messages, most);
    });
  const keyOf = (election) => `${election.time} ${election.epoch} ${election.trigger}`;
  showRows(byId("elections"), "election", shown, keyOf, (row, election) => {
    row.dataset.result = election.result;
    fill(row, {
      outcome: outcomeText(election),
      course: courseText(election),
      counts: countsText(election.messages),
    });
    showTime(slot(row, "time"), election.time);
    showBar(row, election.messages, most);
  });
  byId("no-elections").hidden = all.length > 0;
  document.querySelector(".legend").hidden = all.length === 0;
  byId("more").hidden = all.length <= kElectionsAtFirst;
  setText(byId("more"), isWhole ? `Show the last ${kElectionsAtFirst} only` :
    `Show all ${all.length}`);
}

// --- commands, and whether all this is true ---

// `reasons`: why a command cannot be given now, by its name; "" when it can.
function showCommands(reasons) {
  for (const [name, reason] of Object.entries(reasons)) {
    byId(name).setAttribute("aria-disabled", String(reason !== ""));
    setText(byId(`${name}-why`), reason || kCommandHints[name]);
  }
}

// `seenAt`: when all this was true; null: it never was.
function showAlarm(text, seenAt) {
  byId("alarm").hidden = text === "";
  byId("main").classList.toggle("stale", text !== "");
  setText(slot(document, "alarm"), text);
  slot(document, "alarm-age").hidden = seenAt === null;
  if (seenAt === null) return;
  setText(slot(document, "seen-clock"), clockText(seenAt));
  showTime(slot(document, "seen"), new Date(seenAt).toISOString());
}

// "live", "polling", "unreachable".
function showLink(state) {
  byId("link").dataset.state = state;
  setText(byId("link"), state);
}
