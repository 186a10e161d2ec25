// The package's own tests, at a server that answers as a sidecar does: npm test.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const { after, before, beforeEach, test } = require('node:test');
const { NoToken, Refused, attach, drained, setScore } = require('./attachment');
const { LeaderFlag } = require('./leader_flag');

const EVENTS = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n' +
  'event: attached\ndata: {"name":"worker"}\n\n: a comment\n\n' +
  'event: lead\ndata: {"epoch":7}\n\n' +
  'event: drain\ndata: {"epoch":7,"left_ms":1500,"reason":"leave","successor":"n2"}\n\n';
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

function write(name, text) {
  fs.writeFileSync(path.join(folder, name), text);
  return path.join(folder, name);
}

before(() => new Promise((resolve) => { server.listen(place, resolve); }));
after(() => {
  server.close();
  fs.rmSync(folder, { recursive: true });
});
beforeEach(() => {
  answer = DONE;
  requests = [];
});

test('events come until the sidecar ends', async () => {
  answer = EVENTS;
  const events = [];
  for await (const event of await attach(place, 'worker', -3)) events.push(event);
  assert.deepEqual(events, [
    { type: 'attached', epoch: 0 },
    { type: 'lead', epoch: 7 },
    { type: 'drain', epoch: 7, leftMs: 1500, reason: 'leave', successor: 'n2' },
  ]);
  assert.equal(requests.length, 1);
  assert.match(requests[0], /^POST \/v1\/application\/attach\?name=worker&score=-3 HTTP\/1/);
  assert.doesNotMatch(requests[0], /authorization/i);
});

test('score and drained are sent', async () => {
  await setScore(place, 42);
  await drained(place, 'worker', 7);
  assert.match(requests[0], /^PUT \/v1\/application\/score [^]*\r\n\r\n{"score":42}$/);
  assert.match(requests[1], /^POST \/v1\/application\/drained\?name=worker [^]*\r\n\r\n{"epoch":7}$/);
});

test('a refusal has its status', async () => {
  answer = LATE;
  await assert.rejects(drained(place, 'worker', 7), (error) =>
    error instanceof Refused && error.status === 409 && error.message.includes('too late'));
});

test('a token goes along, and its file is read each time', async () => {
  await setScore(place, 1, { token: 'first' });
  const tokenFile = write('token', '# replaced now and then\n\n second \nthird\n');
  await setScore(place, 1, { tokenFile });
  write('token', 'fourth');
  await drained(place, 'worker', 7, { tokenFile });
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

test('what is no flag is not taken for one', () => {
  assert.throws(() => new LeaderFlag(write('page', 'x'.repeat(64))), { code: 'NOT_A_FLAG' });
  assert.throws(() => new LeaderFlag(path.join(folder, 'none')), { code: 'ENOENT' });
});
