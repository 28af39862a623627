// Restate: one-offs are delayed calls, and a series is an object that calls itself after a delay.
import { Agent, request } from 'node:http';
import { arrive, create, load, nextSecond, ready, until } from './node.mjs';

const restate = load('@restatedev/restate-sdk');
const [mode, port, home] = process.argv.slice(2);
const retryPolicy = { initialInterval: 5000, exponentiationFactor: 1, maxInterval: 5000, maxAttempts: 1000 };
const options = { journalRetention: 0, retryPolicy };

const once = restate.service({
  name: 'Once', options, handlers: { fire: async (_, key) => arrive(home, key) },
});
const series = restate.object({
  name: 'Series', options, handlers: {
    fire: async (context, due) => {
      const delay = Math.max(0, due + 1000 - await context.date.now());
      context.objectSendClient(series, context.key).fire(due + 1000, restate.rpc.sendOpts({ delay }));
      arrive(home, context.key, due);
    },
  },
});

// The ingress takes one call a request.
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const send = (path, delay, value) => new Promise((resolve, reject) => {
  const url = `http://127.0.0.1:${port}/restate/send/${path}/fire?delay=${delay}ms`;
  request(url, { method: 'POST', agent, headers: { 'Content-Type': 'application/json' } }, answer => {
    answer.resume().on('end', () => answer.statusCode < 300 ? resolve() : reject(new Error(answer.statusMessage)));
  }).on('error', reject).end(JSON.stringify(value));
});

if (mode === 'work') {
  await restate.serve({ services: [once, series], port: Number(port) });
  ready();
} else {
  const start = nextSecond();
  await create(
    pairs => Promise.all(pairs.map(([key, due]) => send('Once', until(due), key))),
    keys => Promise.all(keys.map(key => send(`Series/${key}`, until(start), start))));
}
