// As lively.c.
'use strict';

const http = require('node:http');
const { setTimeout: sleep } = require('node:timers/promises');
const { attach } = require('../../examples/apps/node/attachment');

const [place, name, port] = process.argv.slice(2);

async function main() {
  http.createServer((request, response) => response.writeHead(204).end()).listen(Number(port), '127.0.0.1');
  let mine = null;
  while (mine === null) {
    mine = await attach(place, name).catch(() => sleep(10, null));
  }
  for await (const event of mine) void event;
  process.exit(1);
}

main();
