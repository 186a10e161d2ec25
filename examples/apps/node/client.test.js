// The package's own tests, at a server that answers as a sidecar does: npm test.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const { after, before, beforeEach, test } = require('node:test');
const { NoToken, Refused, Scorer, attach, drained, setScore } = require('./attachment');
const { LeaderFlag } = require('./leader_flag');

const EVENTS = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n' +
  'event: attached\ndata: {"name":"worker"}\n\n: a comment\n\n' +
  'event: lead\ndata: {"epoch":7}\n\n' +
  'event: drain\ndata: {"epoch":7,"reason":"leave","successor":"n2","left_ms":1500,"attachment":4711,"drain":2}\n\n';
const DRAIN = { type: 'drain', epoch: 7, leftMs: 1500, reason: 'leave', successor: 'n2', attachment: 4711, drain: 2 };
const DONE = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}';
const LATE = 'HTTP/1.1 409 Conflict\r\nContent-Length: 20\r\n\r\n{"error":"too late"}';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bellwether-client.'));
const place = path.join(folder, 'api.sock');
let answer;
let requests;

const server = net.createServer((client) => {
  client.on('error', () => {});
  client.once('data', (request) => {
    requests.push(request.toString()); // head and body, or the head alone
    client.on('data', (body) => { requests[requests.length - 1] += body; });
    setTimeout(() => client.end(answer), 50);
  });
});

// The same, but connections stay open; as many as `ends` says are closed instead of an answer.
const keptPlace = path.join(folder, 'kept.sock');
const clients = new Set();
let connections;
let ends;

const keptServer = net.createServer((client) => {
  connections += 1;
  clients.add(client);
  let text = '';
  client.on('error', () => {});
  client.on('data', (piece) => {
    text += piece;
    if (!/\r\n\r\n{.*}$/.test(text)) return; // the body is still to come
    requests.push(text);
    text = '';
    ends -= 1;
    if (ends >= 0) return client.destroy();
    client.write(answer.slice(0, 30));
    setTimeout(() => client.write(answer.slice(30)), 5);
  });
});

function write(name, text) {
  fs.writeFileSync(path.join(folder, name), text);
  return path.join(folder, name);
}

before(() => new Promise((resolve) => { server.listen(place, resolve); }));
before(() => new Promise((resolve) => { keptServer.listen(keptPlace, resolve); }));
after(() => {
  server.close();
  keptServer.close();
  for (const client of clients) client.destroy();
  fs.rmSync(folder, { recursive: true });
});
beforeEach(() => {
  answer = DONE;
  requests = [];
  connections = 0;
  ends = 0;
});

test('events come until the sidecar ends', async () => {
  answer = EVENTS;
  const events = [];
  for await (const event of await attach(place, 'worker', -3)) events.push(event);
  assert.deepEqual(events, [
    { type: 'attached', epoch: 0 },
    { type: 'lead', epoch: 7 },
    DRAIN,
  ]);
  assert.equal(requests.length, 1);
  assert.match(requests[0], /^POST \/v1\/application\/attach\?name=worker&score=-3 HTTP\/1/);
  assert.doesNotMatch(requests[0], /authorization/i);
});

test('score and drained are sent', async () => {
  await setScore(place, 42);
  await drained(place, DRAIN);
  assert.match(requests[0], /^PUT \/v1\/application\/score [^]*\r\n\r\n{"score":42}$/);
  assert.match(requests[1], /^POST \/v1\/application\/drained [^]*\r\n\r\n{"epoch":7,"drain":2,"attachment":4711}$/);
});

test('a refusal has its status', async () => {
  answer = LATE;
  await assert.rejects(drained(place, DRAIN), (error) =>
    error instanceof Refused && error.status === 409 && error.message.includes('too late'));
});

test('a token goes along, and its file is read each time', async () => {
  await setScore(place, 1, { token: 'first' });
  const tokenFile = write('token', '# replaced now and then\n\n second \nthird\n');
  await setScore(place, 1, { tokenFile });
  write('token', 'fourth');
  await drained(place, DRAIN, { tokenFile });
  answer = EVENTS;
  (await attach(place, 'worker', undefined, { tokenFile })).close();
  const sent = requests.map((request) => /\r\nAuthorization: Bearer (.*)\r\n/.exec(request)?.[1]);
  assert.deepEqual(sent, ['first', 'second', 'fourth', 'fourth']);
});

test('what is no token is neither sent nor said', async () => {
  for (const text of ['', '# none\n', 'two words', 'a\r\rb', 'h\x01lf', '\xe4', 'x'.repeat(1025)]) {
    const tokenFile = write('token', text);
    await assert.rejects(setScore(place, 1, { tokenFile }), (error) => error instanceof NoToken &&
      error.message.includes(folder) && (text.trim() === '' || !error.message.includes(text)));
  }
  await assert.rejects(attach(place, 'worker', 1, { token: 'half\r\nX: y' }), NoToken);
  await assert.rejects(attach(place, 'worker', 1, { tokenFile: '/nowhere' }), NoToken);
  assert.deepEqual(requests, []);
});

async function setAll(scorer, ...scores) {
  for (const score of scores) await scorer.set(score);
}

test('scores go over one connection, and the file of the token is read each time', async () => {
  const tokenFile = write('token', 'first');
  const scorer = new Scorer(keptPlace, { tokenFile });
  await setAll(scorer, 1, 2);
  write('token', 'second');
  await setAll(scorer, 3);
  scorer.close();
  const sent = requests.map((request) => /\r\nAuthorization: Bearer (.*)\r\n/.exec(request)?.[1]);
  assert.deepEqual(sent, ['first', 'first', 'second']);
  assert.match(requests[2], /^PUT \/v1\/application\/score HTTP\/1.1\r\n[^]*\r\n\r\n{"score":3}$/);
  assert.equal(connections, 1);
});

test('a connection that was closed is made anew once', async () => {
  const scorer = new Scorer(keptPlace);
  await setAll(scorer, 1);
  for (const client of clients) client.destroy();
  await setAll(scorer, 2, 3);
  assert.deepEqual([connections, requests.length], [2, 3]);
  ends = 1;
  await setAll(scorer, 4);
  assert.deepEqual([connections, requests.length], [3, 5]);
  ends = 2;
  await assert.rejects(scorer.set(5), { code: 'ECONNRESET' });
  assert.deepEqual([connections, requests.length], [4, 7]);
  await setAll(scorer, 6, 7);
  assert.deepEqual([connections, requests.length], [5, 9]);
  scorer.close();
});

test('the last answer and an error close the connection', async () => {
  const scorer = new Scorer(keptPlace);
  answer = DONE.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
  await setAll(scorer, 1);
  answer = LATE;
  await assert.rejects(scorer.set(2), (error) => error instanceof Refused && error.status === 409);
  answer = DONE;
  await setAll(scorer, 3);
  scorer.close();
  await setAll(scorer, 4);
  scorer.close();
  assert.deepEqual([connections, requests.length], [4, 4]);
});

test('what is no flag is not taken for one', () => {
  assert.throws(() => new LeaderFlag(write('page', 'x'.repeat(64))), { code: 'NOT_A_FLAG' });
  assert.throws(() => new LeaderFlag(path.join(folder, 'none')), { code: 'ENOENT' });
});
