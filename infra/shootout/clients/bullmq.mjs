// BullMQ: one-offs are delayed jobs of a queue, and series are its job schedulers.
import { arrive, create, groups, load, nextSecond, ready, until } from './node.mjs';

const { Queue, Worker } = load('bullmq');
const [mode, port, home] = process.argv.slice(2);
const connection = { host: '127.0.0.1', port: Number(port), maxRetriesPerRequest: null };
const options = { attempts: 1000, backoff: { type: 'fixed', delay: 5000 }, removeOnComplete: true };

if (mode === 'work') {
  // The id of a scheduler's job ends in its due time.
  const take = async job => arrive(home, job.name, job.repeatJobKey && job.id.split(':').at(-1));
  const worker = new Worker('shootout', take, { connection, concurrency: 100 });
  worker.on('error', error => console.error(error.message));
  await worker.waitUntilReady();
  ready();
} else {
  const queue = new Queue('shootout', { connection, defaultJobOptions: options });
  await queue.waitUntilReady();
  await create(
    async pairs => {
      for (const group of groups(pairs)) {
        await queue.addBulk(group.map(([name, due]) => ({ name, opts: { delay: until(due) } })));
      }
    },
    keys => {
      const each = { every: 1000, startDate: nextSecond() };
      return Promise.all(keys.map(name => queue.upsertJobScheduler(name, each, { name, opts: options })));
    });
}
