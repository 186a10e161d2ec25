#!/usr/bin/env node
// The worker of ../c/attached_worker.c in JavaScript: attached to its sidecar, it says what it is worth,
// works in units that it begins only while its flag covers them, and finishes what it has begun before its
// node hands over.
//
//   attached_worker.js FLAG_FILE PLACE NAME [SCORE [UNIT_MS]]
'use strict';

const { setTimeout: sleep } = require('node:timers/promises');
const { Refused, attach, drained } = require('./attachment');
const { openFlag } = require('./leader_flag');

const NEED_MS = 1; // so long the flag has to hold for a unit to begin

let isAskedToEnd = false;

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
        const { epoch } = drain;
        drain = null;
        await drained(place, name, epoch).catch(() => {}); // or it has waited long enough
        continue;
      }
      await Promise.race([new Promise((resolve) => { wake = resolve; }), sleep(100)]);
      continue;
    }
    if (working !== token) tell(name, 'works', token, pieces, cut);
    working = token;
    await sleep(unitMs);
    if (flag.still(token)) ++pieces; // its result counts
    else ++cut;
  }
  if (working !== null) tell(name, 'stopped', working, pieces, cut);
}

async function main(path, place, name, score, unitMs = '1') {
  const flag = await openFlag(path);
  while (!isAskedToEnd) {
    try {
      const mine = await attach(place, name, score);
      await work(flag, place, mine, name, Number(unitMs));
      mine.close();
    } catch (error) {
      if (error instanceof Refused && ![429, 503].includes(error.status)) throw error;
    }
    await sleep(100); // the sidecar starts, or starts again
  }
  flag.close();
}

if (process.argv.length < 5 || process.argv.length > 7) {
  console.error('usage: attached_worker.js FLAG_FILE PLACE NAME [SCORE [UNIT_MS]]');
  process.exit(2);
}
for (const name of ['SIGTERM', 'SIGINT']) {
  process.once(name, () => {
    isAskedToEnd = true;
    setTimeout(() => process.exit(0), 500).unref();
  });
}
main(...process.argv.slice(2)).then(() => process.exit(0), (error) => {
  console.error(`attached_worker: ${error.message}`);
  process.exit(1);
});
