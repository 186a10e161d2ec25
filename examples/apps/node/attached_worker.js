#!/usr/bin/env node
// The worker of ../c/attached_worker.c in JavaScript: attached to its sidecar, it says what it is worth,
// works in units that it begins only while its flag covers them, and finishes what it has begun before its
// node hands over, or itself is asked to end.
//
//   attached_worker.js FLAG_FILE PLACE NAME [SCORE [UNIT_MS [UID]]]
//
// Where the API asks for a token, the file in the environment's BELLWETHER_TOKEN_FILE has it.
'use strict';

const { setTimeout: sleep } = require('node:timers/promises');
const { NoToken, Refused, attach, drained } = require('./attachment');
const { openFlag } = require('./leader_flag');

const NEED_MS = 1; // so long the flag has to hold for a unit to begin

const TOKEN = { tokenFile: process.env.BELLWETHER_TOKEN_FILE || undefined };

let isAskedToEnd = false;
let isUnderWay = false; // a unit

// `cut`: units that the flag did not cover to their end, so that their results did not count.
function tell(name, what, token, pieces, cut) {
  console.log(`${Date.now() * 1000} ${name} ${what} token=${token} pieces=${pieces} cut=${cut}`);
}

// The pause stands for what an application really does.
async function work(flag, place, mine, name, unitMs) {
  let isAttached = true;
  let wake = () => {};
  let drain = null; // that was asked for, and not answered yet
  (async () => {
    for await (const event of mine) {
      if (event.type === 'drain') drain = event;
      wake();
    }
    isAttached = false;
    wake();
  })();
  let working = null;
  let pieces = 0;
  let cut = 0;
  while (isAttached && !isAskedToEnd) {
    const token = flag.begin(NEED_MS);
    if (token === null) {
      if (working !== null) tell(name, 'stopped', working, pieces, cut);
      working = null;
      if (drain !== null) {
        const asked = drain;
        drain = null;
        await drained(place, asked, TOKEN).catch(() => {}); // or it has waited long enough
        continue;
      }
      await Promise.race([new Promise((resolve) => { wake = resolve; }), sleep(100)]);
      continue;
    }
    if (working !== token) tell(name, 'works', token, pieces, cut);
    working = token;
    isUnderWay = true;
    await sleep(unitMs);
    isUnderWay = false;
    if (flag.still(token)) ++pieces; // its result counts
    else ++cut;
  }
  if (working !== null) tell(name, 'stopped', working, pieces, cut);
}

async function main(path, place, name, score, unitMs = '1', user = undefined) {
  const flag = await openFlag(path, user === undefined ? {} : { owner: Number(user) });
  while (!isAskedToEnd) {
    try {
      const mine = await attach(place, name, score, TOKEN);
      await work(flag, place, mine, name, Number(unitMs));
      mine.close();
    } catch (error) {
      if (error instanceof NoToken) throw error;
      if (error instanceof Refused && ![429, 503].includes(error.status)) throw error;
    }
    await sleep(100); // the sidecar starts, or starts again
  }
  flag.close();
}

const argumentCount = process.argv.length - 2;
if (argumentCount < 3 || argumentCount > 6 || process.argv.slice(7).some((uid) => !/^\d+$/.test(uid))) {
  console.error('usage: attached_worker.js FLAG_FILE PLACE NAME [SCORE [UNIT_MS [UID]]]');
  process.exit(2);
}
for (const name of ['SIGTERM', 'SIGINT']) {
  process.once(name, () => {
    isAskedToEnd = true;
    if (!isUnderWay) process.exit(0);
  });
}
main(...process.argv.slice(2)).then(() => process.exit(0), (error) => {
  console.error(`attached_worker: ${error.message}`);
  process.exit(1);
});
