// The leader flag for Node.js on Linux: does this replica lead, right now?
//
//   const { openFlag } = require('./leader_flag');
//   const flag = await openFlag('/dev/shm/bellwether/orders');
//   const token = flag.token();
//   if (token !== null) ...  // act, and pass the token on as fencing token
//
// What the flag promises, and what it cannot, is said in leader_flag.h; copy this file into your
// application.  It needs no package.
//
// Node cannot map a file, so it is read, with calls that never wait for a disk because the file
// is on a tmpfs.  They see the same memory as a mapping does.  Two things are different from the C
// reader, and both are made up for:
//
//   - The kernel may copy the bytes of one read in any order, but it does not let one read pass
//     another.  So each step of the C reader's order (seq, fields, clock, owner, seq) is a read of
//     its own.  A renewal changes valid_until_ns without moving seq, and a copy could mix the old
//     value with the new: it is read twice, and the earlier time counts.
//   - Node has no CLOCK_BOOTTIME.  /proc/uptime tells it, cut to hundredths of a second, so one
//     more is added.  Where a container is shown an uptime of its own (lxcfs), no flag is opened:
//     after the machine was suspended, it would be on for that time too long.
//
// A flag may so go off for Node 10 ms earlier than for others; it never goes off later.  And a file
// that its owner cuts short, which ends a process that has it mapped, is merely off.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { setTimeout: sleep } = require('node:timers/promises');

const ABI = 1;
const FILE_BYTES = 4096;
const LINE_BYTES = 64;
const OWNER_DIED = 0x40000000;

const DRAINING = 1;

const Role = Object.freeze({ UNKNOWN: 0, FOLLOWER: 1, LEADER: 2 });

// Where the fields are: in units of 4 bytes, of 8 bytes, and of one.
const OWNER = 0, SEQ = 1;
const EPOCH = 1, VALID_UNTIL = 2, BOOT_ID_HASH = 3;
const GUARD = 32, ROLE = 33, ABI_AT = 34, FLAGS = 35, LEADER_ID = 40, LEADER_ID_END = 56;

// An update takes nanoseconds; a writer that is stopped in the middle of one may take for ever.
const TRIES = 1000;

// How often a reader looks whether another file is at the flag's path, while nobody vouches for the
// one that it has.
const LOOK_MS = 1000;

// How often wait() looks.
const POLL_MS = 10;

// An error of the constructor: code is NOT_READY (try again), NOT_A_FLAG, UNKNOWN_VERSION,
// NOT_TRUSTED or NO_CLOCK.
class FlagError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

// An open flag.
class LeaderFlag {
  #path;
  #ownerOption;
  #nextLookMs = 0;
  #fd;
  #status;
  #uptime;
  #bootIdHash;
  // Two of the line's beginning, two of the whole, and their bytes seen as words.
  #first = new Uint32Array(2);
  #owner = new Uint32Array(2);
  #line = new Uint8Array(LINE_BYTES);
  #longs = new BigUint64Array(this.#line.buffer);
  #last = new Uint32Array(LINE_BYTES / 4);
  #lastLongs = new BigUint64Array(this.#last.buffer);
  #uptimeText = Buffer.alloc(64);

  // Throws ENOENT or NOT_READY while the sidecar has not come up.  `owner` is the user id of the
  // sidecar: then only a file of that user, or of root, is believed; without it also one of this
  // process's user, and of the owner of the file's folder where root alone can have given him that
  // (leader_flag.h).
  constructor(flagPath, { owner = null } = {}) {
    this.#path = flagPath;
    this.#ownerOption = owner;
    this.#bootIdHash = bootIdHash();
    this.#uptime = fs.openSync('/proc/uptime', 'r');
    try {
      this.#checkClock();
      this.#open();
    } catch (error) {
      fs.closeSync(this.#uptime);
      throw error;
    }
  }

  close() {
    fs.closeSync(this.#fd);
    fs.closeSync(this.#uptime);
  }

  // The fencing token (a BigInt) while this replica leads, otherwise null.
  token() {
    const snapshot = this.read();
    return snapshot.role === Role.LEADER ? snapshot.fencingToken : null;
  }

  // All that the flag says, at one instant.  A flag that nobody vouches for (no living sidecar, a
  // leadership that has run out) has the role UNKNOWN and names no leader.
  read() {
    const snapshot = this.#readFile();
    return snapshot.isSidecarAlive || !this.#lookAgain() ? snapshot : this.#readFile();
  }

  // Waits until a read would differ from `seen` in more than validUntilNs; the promise is kept with
  // what it is then, or still is after `timeoutMs`.
  async wait(seen, timeoutMs) {
    const deadlineMs = performance.now() + timeoutMs;
    for (;;) {
      const now = this.read();
      const isSame = now.seq === seen.seq && now.role === seen.role &&
          now.isSidecarAlive === seen.isSidecarAlive;
      if (!isSame || performance.now() >= deadlineMs) return now;
      await sleep(POLL_MS);
    }
  }

  // Call this before work that takes `needMs`.  A token: this replica leads, may begin new work, and
  // its leadership, as the sidecar last wrote it, is valid for at least that long; the token is for
  // the resource and for still().  Otherwise null.  A leader that is about to hand over may not
  // begin anything; it has `[application] drain_timeout` to finish what it has begun.
  //
  // The leadership is never valid for longer than 4/5 of the lease, and for less between two
  // renewals: a `needMs` that is not well below is never granted.  For longer work pass a small one,
  // set drain_timeout above its length, and let still() decide whether the result counts.
  //
  // After a token, under every guard but "none", no other replica leads before that time is up, even
  // if the sidecar hangs, gets no processor time, or is cut off.  There are two exceptions: the
  // leader gives up leadership without a drain, or after one (a step-down, a transfer, a planned
  // take-over, SIGTERM), or its sidecar is known to be dead.  Then another replica may lead a
  // millisecond later, while this one is still working.
  begin(needMs) {
    const snapshot = this.read();
    if (snapshot.role !== Role.LEADER || snapshot.isDraining) return null;
    const leftNs = snapshot.validUntilNs - this.#nowNs();
    return leftNs > 0n && leftNs >= BigInt(Math.ceil(needMs * 1e6)) ? snapshot.fencingToken : null;
  }

  // Call this after the work, before its result counts.  True: this replica leads, in the same epoch
  // as at begin(); under every guard but "none", no other replica has led since then.
  still(token) {
    return this.token() === token;
  }

  // Opens what is at the path now, and goes on with it if it is a flag to believe.
  #open() {
    const before = this.#fd;
    // O_NONBLOCK: what is a pipe shall be refused, not waited for.
    this.#fd = fs.openSync(this.#path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    try {
      this.#check(fs.fstatSync(this.#fd));
    } catch (error) {
      fs.closeSync(this.#fd);
      this.#fd = before;
      throw error;
    }
    if (before !== undefined) fs.closeSync(before);
  }

  #check(status) {
    const flaw = (code, words) => new FlagError(code, `${this.#path}: ${words}`);
    if (!status.isFile()) throw flaw('NOT_A_FLAG', 'not a leader flag');
    if (!isTrusted(this.#path, status.uid, this.#ownerOption)) {
      throw flaw('NOT_TRUSTED', `belongs to user ${status.uid}, for whom nothing vouches; ` +
          'name the sidecar\'s user as owner');
    }
    if (status.size === 0) throw flaw('NOT_READY', 'the leader flag is not set up yet');
    if (status.size !== FILE_BYTES) throw flaw('NOT_A_FLAG', 'not a leader flag');
    if (!this.#load(this.#line)) throw flaw('NOT_A_FLAG', 'not a leader flag');
    const abi = this.#line[ABI_AT];
    if (abi === 0) throw flaw('NOT_READY', 'the leader flag is not set up yet');
    if (abi !== ABI) throw flaw('UNKNOWN_VERSION', `a leader flag of ${abi}`);
    this.#status = status;
  }

  // hrtime() is the machine's, but for the time in which that was suspended: no uptime is less.
  #checkClock() {
    const monotonicNs = process.hrtime.bigint();
    if (this.#nowNs() >= monotonicNs) return;
    throw new FlagError('NO_CLOCK', '/proc/uptime is not the machine\'s (lxcfs?), so no validity ' +
        'can be judged by it; show this container the host\'s, or ask the sidecar\'s API');
  }

  // While nobody vouches for the flag: is another file at its path?
  #lookAgain() {
    const nowMs = performance.now();
    if (nowMs < this.#nextLookMs) return false;
    this.#nextLookMs = nowMs + LOOK_MS;
    try {
      const there = fs.statSync(this.#path);
      if (there.dev === this.#status.dev && there.ino === this.#status.ino) return false;
      this.#open();
      return true;
    } catch {
      return false;
    }
  }

  #readFile() {
    for (let tries = 0; tries < TRIES; ++tries) {
      const snapshot = this.#tryRead();
      if (snapshot !== null) return snapshot;
    }
    return nothing(this.#last[SEQ], 0, false);
  }

  // Fills the array from the line's beginning; false when the file was cut short.
  #load(array) {
    return fs.readSync(this.#fd, array, 0, array.byteLength, 0) === array.byteLength;
  }

  // One try; null when the line is being written.
  #tryRead() {
    if (!this.#load(this.#first) || !this.#load(this.#line)) return nothing(0, 0, false);
    const role = this.#line[ROLE];
    const nowNs = role === Role.LEADER ? this.#nowNs() : 0n;
    if (!this.#load(this.#owner) || !this.#load(this.#last)) return nothing(0, 0, false);
    const seq = this.#first[SEQ];
    if (seq % 2 !== 0 || this.#last[SEQ] !== seq) return null;

    const owner = this.#owner[OWNER];
    const guard = this.#line[GUARD];
    const isSidecarAlive = owner !== 0 && (owner & OWNER_DIED) === 0 &&
        this.#longs[BOOT_ID_HASH] === this.#bootIdHash && this.#line[ABI_AT] === ABI;
    if (!isSidecarAlive) return nothing(seq, 0, false);
    let validUntilNs = 0n;
    if (role === Role.LEADER) {
      const [once, again] = [this.#longs[VALID_UNTIL], this.#lastLongs[VALID_UNTIL]];
      validUntilNs = once < again ? once : again;
      if (nowNs >= validUntilNs) return nothing(seq, guard, true);
    }
    const epoch = this.#longs[EPOCH];
    return {
      seq,
      role,
      epoch,
      fencingToken: role === Role.LEADER ? epoch : 0n,
      validUntilNs,
      leaderId: uuidText(this.#line.subarray(LEADER_ID, LEADER_ID_END)),
      guard,
      isSidecarAlive,
      isDraining: role === Role.LEADER && (this.#line[FLAGS] & DRAINING) !== 0,
    };
  }

  // CLOCK_BOOTTIME, up to 10 ms ahead of it.
  #nowNs() {
    const count = fs.readSync(this.#uptime, this.#uptimeText, 0, this.#uptimeText.length, 0);
    const [seconds, hundredths] = this.#uptimeText.toString('latin1', 0, count).split(/[. ]/, 2);
    return (BigInt(seconds) * 100n + BigInt(hundredths) + 1n) * 10_000_000n;
  }
}

// Opens the flag, and waits for ever for a sidecar that starts later.
async function openFlag(flagPath, options) {
  for (;;) {
    try {
      return new LeaderFlag(flagPath, options);
    } catch (error) {
      if (error.code !== 'ENOENT' && error.code !== 'NOT_READY') throw error;
    }
    await sleep(POLL_MS);
  }
}

// May this user say that this replica leads?
function isTrusted(flagPath, user, owner) {
  if (user === 0 || owner !== null) return user === 0 || user === owner;
  if (user === process.geteuid()) return true;
  const folder = fs.statSync(path.dirname(flagPath));
  const above = fs.statSync(`${path.dirname(flagPath)}/..`);
  return folder.uid === user && above.uid === 0 && ((folder.mode | above.mode) & 0o022) === 0;
}

// No leader is known, or nobody vouches for what is.
function nothing(seq, guard, isSidecarAlive) {
  return {
    seq,
    role: Role.UNKNOWN,
    epoch: 0n,
    fencingToken: 0n,
    validUntilNs: 0n,
    leaderId: uuidText(new Uint8Array(LEADER_ID_END - LEADER_ID)),
    guard,
    isSidecarAlive,
    isDraining: false,
  };
}

function uuidText(bytes) {
  const text = Buffer.from(bytes).toString('hex');
  return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20),
    text.slice(20)].join('-');
}

// 64-bit FNV-1a of the 36 characters that name this boot.
function bootIdHash() {
  let hash = 0xcbf29ce484222325n;
  for (const byte of fs.readFileSync('/proc/sys/kernel/random/boot_id').subarray(0, 36)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash;
}

module.exports = { LeaderFlag, FlagError, Role, openFlag };
