#!/usr/bin/env node
// The worker of ../c/worker.c in JavaScript: one replica at a time may work, and asks the leader
// flag before every piece of work.
//
//   worker.js FLAG_FILE NAME [UID]
'use strict';

const { setTimeout: sleep } = require('node:timers/promises');
const { Role, openFlag } = require('./leader_flag');

let isAskedToEnd = false;

function tell(name, what, token, pieces) {
  const nowUs = Math.round((performance.timeOrigin + performance.now()) * 1000);
  console.log(`${nowUs} ${name} ${what} token=${token} pieces=${pieces}`);
}

// The pause stands for what an application really does.
const doAPieceOfWork = () => sleep(1);

// Works for as long as the flag is on in this epoch; returns the pieces done.
async function work(flag, token) {
  let pieces = 0;
  while (!isAskedToEnd && flag.still(token)) {
    await doAPieceOfWork();
    ++pieces;
  }
  return pieces;
}

async function main(path, name, user) {
  const flag = await openFlag(path, user === undefined ? {} : { owner: Number(user) });
  while (!isAskedToEnd) {
    const seen = flag.read();
    if (seen.role !== Role.LEADER) {
      await flag.wait(seen, 1000);
      continue;
    }
    tell(name, 'works', seen.fencingToken, 0);
    tell(name, 'stopped', seen.fencingToken, await work(flag, seen.fencingToken));
  }
  flag.close();
}

if (![4, 5].includes(process.argv.length) || !/^\d+$/.test(process.argv[4] ?? '0')) {
  console.error('usage: worker.js FLAG_FILE NAME [UID]');
  process.exit(2);
}
for (const name of ['SIGTERM', 'SIGINT']) {
  process.once(name, () => {
    isAskedToEnd = true;
    setTimeout(() => process.exit(0), 2000).unref(); // it may still wait for its flag
  });
}
main(...process.argv.slice(2)).catch((error) => {
  console.error(`worker: ${error.message}`);
  process.exit(1);
});
