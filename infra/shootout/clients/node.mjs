// What the clients and workers in Node.js share.
import { existsSync, openSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Load a package from the folder that NODE_PATH names. */
export const load = createRequire(import.meta.url);

let file;

/** Write down that a trigger has come, with its due time in epoch ms if it is known. Throws while `refusing` exists. */
export function arrive(home, key, due) {
  const came = process.hrtime.bigint();
  if (existsSync(`${home}/refusing`)) throw new Error(`refused: ${key}`);
  file ??= openSync(`${home}/arrivals/${process.pid}`, 'a');
  writeSync(file, `${key} ${due ?? '-'} ${came}\n`);
}

/** Tell the harness that the worker takes triggers. */
export const ready = () => console.log('ready');

/** Create what the input asks for, and print the seconds that it took: `once` gets [key, due] pairs, `recur` keys. */
export async function create(once, recur) {
  let text = '';
  for await (const part of process.stdin) text += part;
  const wanted = JSON.parse(text);
  const began = performance.now();
  await (wanted.once ? once(wanted.once) : recur(wanted.each_second));
  console.log((performance.now() - began) / 1000);
  process.exit();
}

/** Milliseconds until an instant, at least 0. */
export const until = due => Math.max(0, due - Date.now());

/** A whole second soon, in epoch ms. */
export const nextSecond = () => Math.ceil((Date.now() + 200) / 1000) * 1000;

/** Groups of at most 1,000 items. */
export function* groups(items) {
  for (let start = 0; start < items.length; start += 1000) yield items.slice(start, start + 1000);
}
