// What the Node reader of the flag sees; the commands and answers are those of probe.c.
'use strict';

const readline = require('node:readline');
const { LeaderFlag, Role } = require('../../examples/apps/node/leader_flag');

const KINDS = {
  ENOENT: 'missing', NOT_READY: 'not ready', NOT_A_FLAG: 'not a flag',
  UNKNOWN_VERSION: 'unknown version', NOT_TRUSTED: 'not trusted', NO_CLOCK: 'no clock',
};

let flag = null;

function idOf(epoch) {
  const words = BigUint64Array.of(BigInt.asUintN(64, epoch * 0x9e3779b97f4a7c15n),
      BigInt.asUintN(64, ~epoch));
  return Buffer.from(words.buffer).toString('hex');
}

function isTorn(seen) {
  const leads = seen.epoch % 2n === 1n;
  return seen.leaderId.replaceAll('-', '') !== idOf(seen.epoch) ||
      (seen.role === Role.LEADER) !== leads || seen.fencingToken !== (leads ? seen.epoch : 0n);
}

function open(path, options) {
  try {
    flag = new LeaderFlag(path, options);
    return { error: '' };
  } catch (error) {
    return { error: KINDS[error.code] ?? 'another' };
  }
}

// By hand, because JSON.stringify() refuses a BigInt.
function read() {
  const seen = flag.read();
  return `{"role": ${seen.role}, "epoch": ${seen.epoch}, "fencing_token": ${seen.fencingToken}, ` +
      `"valid_until_ns": ${seen.validUntilNs}, "leader_id": "${seen.leaderId}", ` +
      `"guard": ${seen.guard}, "seq": ${seen.seq}, "is_sidecar_alive": ${seen.isSidecarAlive}}`;
}

function watch(maxStates, maxReads) {
  let states = 0, torn = 0, reads = 0;
  while (states < maxStates && reads < maxReads) {
    const seen = flag.read();
    ++reads;
    if (seen.role === Role.UNKNOWN) continue;
    ++states;
    torn += isTorn(seen);
  }
  return { states, torn, reads };
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const [command, ...words] = line.split(' ');
  if (command === 'read') console.log(read());
  else if (command === 'open') console.log(JSON.stringify(open(words[0])));
  else if (command === 'open_of') {
    console.log(JSON.stringify(open(words[1], { owner: Number(words[0]) })));
  } else if (command === 'begin') console.log(`{"token": ${flag.begin(Number(words[0]))}}`);
  else if (command === 'still') console.log(`{"still": ${flag.still(BigInt(words[0]))}}`);
  else console.log(JSON.stringify(watch(Number(words[0]), Number(words[1]))));
});
