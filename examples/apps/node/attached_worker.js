#!/usr/bin/env node
// The worker of ../c/attached_worker.c in JavaScript: attached to its sidecar, it says what it is worth,
// and works in units that it begins only while its flag covers them.
//
//   attached_worker.js FLAG_FILE PLACE NAME [SCORE]
'use strict';

const { setTimeout: sleep } = require('node:timers/promises');
const { Refused, attach } = require('./attachment');
const { openFlag } = require('./leader_flag');

const UNIT_MS = 1; // of work; the pause stands for what an application really does

let isAskedToEnd = false;

function tell(name, what, token, pieces) {
  const nowUs = Math.round((performance.timeOrigin + performance.now()) * 1000);
  console.log(`${nowUs} ${name} ${what} token=${token} pieces=${pieces}`);
}

async function work(flag, mine, name) {
  let isAttached = true;
  let wake = () => {};
  (async () => {
    for await (const event of mine) wake(event);
    isAttached = false;
    wake();
  })();
  let working = null;
  let pieces = 0;
  while (isAttached && !isAskedToEnd) {
    const token = flag.begin(UNIT_MS);
    if (token === null) {
      if (working !== null) tell(name, 'stopped', working, pieces);
      working = null;
      await Promise.race([new Promise((resolve) => { wake = resolve; }), sleep(100)]);
      continue;
    }
    if (working !== token) tell(name, 'works', token, pieces);
    working = token;
    await sleep(UNIT_MS);
    if (flag.still(token)) ++pieces; // its result counts
  }
  if (working !== null) tell(name, 'stopped', working, pieces);
}

async function main(path, place, name, score) {
  const flag = await openFlag(path);
  while (!isAskedToEnd) {
    try {
      const mine = await attach(place, name, score);
      await work(flag, mine, name);
      mine.close();
    } catch (error) {
      if (error instanceof Refused && error.status !== 503) throw error;
    }
    await sleep(100); // the sidecar starts, or starts again
  }
  flag.close();
}

if (process.argv.length < 5 || process.argv.length > 6) {
  console.error('usage: attached_worker.js FLAG_FILE PLACE NAME [SCORE]');
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
