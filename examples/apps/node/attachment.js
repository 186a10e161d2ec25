// The application's attachment to its sidecar, for Node.js on Linux: while it is open, this node may lead
// (`[application] attach`).
//
//   const { attach } = require('./attachment');
//   const mine = await attach('/run/bellwether/api.sock', 'worker');
//   for await (const { type, epoch } of mine) ...  // 'attached', 'lead', 'follow', 'drain'
//
// The open connection is the statement "I am here"; the kernel ends it when the process dies, however it
// dies: a child of child_process does not hold it.  Whether this replica leads says the flag (leader_flag.js), before each piece of work; the events
// only wake whoever waits for that.  Before its node hands leadership over the application is told so
// ('drain', where `[application] drain_timeout` is set): begin() of the flag refuses from then on, and when
// what was begun has ended, drained() says so.  Copy this file into your application; it needs no package.
'use strict';

const { readFile } = require('node:fs/promises');
const http = require('node:http');

// The sidecar, on this host, has so long to accept and to answer.
const TIMEOUT_MS = 2000;
// No event of a sidecar's, no other answer, and no reason why it refuses, is longer.
const MOST_CHARACTERS = 16384;
const MOST_TOKEN_CHARACTERS = 1024;

// The sidecar has refused; `status` says why: 400 name or score, 401 and 403 this process may not, 404 and
// 409 nobody waits for it to finish, 429 too many scores a second, 503 too many are attached.
class Refused extends Error {
  constructor(status, reason) {
    super(`the sidecar answered ${status}: ${reason.trim()}`);
    this.name = 'Refused';
    this.status = status;
  }
}

// The file of the token cannot be read, or there is none in it, or what was given is none.
class NoToken extends Error {
  constructor(place, why) {
    super(`${place}: ${why}`);
    this.name = 'NoToken';
  }
}

// Iterating over it waits for the next { type, epoch }, and ends when the sidecar has ended: then attach
// again, after a moment.  'drain' has leftMs, reason, successor (null: nobody can lead), attachment (who is
// asked: this one, and nobody else of its name) and drain (its number: an epoch may see more than one) besides.
// Ignore types that you do not know.
class Attachment {
  constructor(response) {
    this._response = response;
  }

  async *[Symbol.asyncIterator]() {
    let text = '';
    try {
      for await (const piece of this._response) {
        const blocks = (text + piece).split('\n\n');
        text = blocks.pop();
        if (text.length > MOST_CHARACTERS) return;
        for (const block of blocks) {
          const event = parse(block);
          if (event !== null) yield event;
        }
      }
    } catch {
      // The connection has ended, or what comes over it is not HTTP any more.
    }
  }

  // Detaches: if no other application is attached, this node leads no longer.
  close() {
    this._response.destroy();
  }
}

// null: a comment, or nothing that a sidecar says.
function parse(block) {
  const fields = new Map();
  for (const line of block.split('\n')) {
    const colon = line.indexOf(': ');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 2));
  }
  if (!fields.has('event')) return null;
  const type = fields.get('event');
  let data;
  try {
    data = JSON.parse(fields.get('data') ?? '{}') ?? {};
  } catch {
    return null;
  }
  const event = { type, epoch: data.epoch ?? 0 };
  if (type !== 'drain') return event;
  return {
    ...event,
    leftMs: data.left_ms,
    reason: data.reason,
    successor: data.successor,
    attachment: data.attachment,
    drain: data.drain,
  };
}

// The header with it, or none.  No error says what is in the file.
async function authorization({ token, tokenFile }) {
  if (token === undefined && tokenFile === undefined) return {};
  let found = token;
  if (found === undefined) {
    const text = await readFile(tokenFile, 'latin1').catch((error) => {
      throw new NoToken(tokenFile, error.code);
    });
    found = text.split('\n').map((line) => line.trim()).find((line) => line !== '' && line[0] !== '#') ?? '';
  }
  if (!/^[!-~]+$/.test(found) || found.length > MOST_TOKEN_CHARACTERS) {
    throw new NoToken(token === undefined ? tokenFile : 'token', 'this is no token');
  }
  return { Authorization: `Bearer ${found}` };
}

// The answer, of which the head has come; its body is text.  `agent`: keeps the connection.
async function ask(place, method, path, body, options, agent = false) {
  const authorized = await authorization(options);
  const to = place.startsWith('/')
    ? { socketPath: place }
    : { host: place.slice(0, place.lastIndexOf(':')).replace(/^\[|\]$/g, ''), port: Number(place.slice(place.lastIndexOf(':') + 1)) };
  return new Promise((resolve, reject) => {
    const headers = { Host: 'localhost', 'Content-Length': Buffer.byteLength(body), ...authorized };
    const request = http.request({ ...to, method, path, headers, agent }, (response) => {
      response.setEncoding('utf8');
      if (response.statusCode === 200) {
        clearTimeout(overdue);
        return resolve(response);
      }
      let reason = '';
      response.on('data', (piece) => {
        reason += piece;
        if (reason.length > MOST_CHARACTERS) response.destroy();
      });
      response.on('error', () => {});
      response.on('close', () => {
        clearTimeout(overdue);
        reject(new Refused(response.statusCode, reason));
      });
    });
    const overdue = setTimeout(() => request.destroy(new Error('the sidecar does not answer')), TIMEOUT_MS);
    request.on('error', (error) => {
      clearTimeout(overdue);
      const isClosed = error.code === 'ECONNRESET' || error.code === 'EPIPE';
      reject(Object.assign(error, { isOfKept: isClosed && request.reusedSocket }));
    });
    request.end(body);
  });
}

// Attaches as `name` (1 to 64 letters, digits, '-', '.' and '_').  `place`: the path of the API's unix
// socket, or its address, '127.0.0.1:4040'.  Over TCP `[api] token_file` may ask for a token: `token`, or the
// first line of `tokenFile` that is neither empty nor begins with '#', which is read each time, for tokens are
// replaced.  It is sent as it is: to the sidecar of this host.  Rejects with Refused, NoToken, or where there
// is no sidecar.
async function attach(place, name = 'application', score = undefined, options = {}) {
  const worth = score === undefined ? '' : `&score=${score}`;
  const path = `/v1/application/attach?name=${encodeURIComponent(name)}${worth}`;
  const response = await ask(place, 'POST', path, '', options);
  response.on('error', () => {}); // the iterator ends then, too
  if (!(response.headers['content-type'] ?? '').startsWith('text/event-stream')) {
    response.destroy();
    throw new Error('what answers is not a sidecar: it sends no events');
  }
  return new Attachment(response);
}

// The application is worth this from now on: a whole number, from -(2 ** 53 - 1) to 2 ** 53 - 1.  Until it is
// said, also after a restart of the sidecar, it is 0.
async function setScore(place, score, options = {}) {
  const response = await ask(place, 'PUT', '/v1/application/score', JSON.stringify({ score }), options);
  response.resume();
}

// For a score that changes often: keeps the connection, for making one each time is much of what a score costs
// the sidecar.  Await each set() before the next.
class Scorer {
  constructor(place, options = {}) {
    this._place = place;
    this._options = options;
    this._agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  }

  // As setScore(), and rejects with the same.  Connects if it has to: at first, after an error, and, by itself,
  // where the sidecar has closed the connection or has restarted.  A score that could not be said is not kept: say it
  // again when you attach again.
  async set(score) {
    try {
      await this._tell(score).catch((error) => {
        if (!error.isOfKept) throw error;
        this.close();
        return this._tell(score); // it may be said twice
      });
    } catch (error) {
      this.close();
      throw error;
    }
  }

  // May be repeated; set() connects anew.
  close() {
    this._agent.destroy();
  }

  // Reads the answer to its end, for only then the connection can be kept.
  async _tell(score) {
    const body = JSON.stringify({ score });
    const response = await ask(this._place, 'PUT', '/v1/application/score', body, this._options, this._agent);
    const overdue = setTimeout(() => response.destroy(), TIMEOUT_MS);
    let length = 0;
    try {
      for await (const piece of response) {
        length += piece.length;
        if (length > MOST_CHARACTERS) break;
      }
    } finally {
      clearTimeout(overdue);
    }
  }
}

// What was begun has ended, as this event, 'drain', asked for; may be said twice.
// Rejects with Refused of status 409 if nobody waits for it in this drain (any more).
async function drained(place, { epoch, drain, attachment }, options = {}) {
  const body = JSON.stringify({ epoch, drain, attachment });
  const response = await ask(place, 'POST', '/v1/application/drained', body, options);
  response.resume();
}

module.exports = { Attachment, NoToken, Refused, Scorer, attach, drained, setScore };
