// pg-boss: one-offs are jobs with `startAfter`.
import { arrive, create, groups, load, ready } from './node.mjs';

const { PgBoss } = load('pg-boss');
const [mode, address, home] = process.argv.slice(2);
const worker = mode === 'work';
// Only the worker watches heartbeats. It looks for those that are missing as often as it may.
const boss = new PgBoss({
  connectionString: address, supervise: worker, schedule: false, superviseIntervalSeconds: 1, monitorIntervalSeconds: 1,
});
boss.on('error', error => console.error(error.message));
await boss.start();

if (worker) {
  await boss.createQueue('shootout', { retryLimit: 1000, retryDelay: 5, heartbeatSeconds: 10 });
  const options = {
    pollingIntervalSeconds: 0.5, batchSize: 500, burstWhenBatchFull: true, localConcurrency: 2, perJobResults: true,
  };
  await boss.work('shootout', options, async jobs => jobs.map(({ id, data }) => {
    try {
      arrive(home, data.key);
      return { id, status: 'completed' };
    } catch (error) {
      return { id, status: 'failed', output: { message: error.message } };
    }
  }));
  ready();
} else {
  await create(async pairs => {
    for (const group of groups(pairs)) {
      await boss.insert('shootout', group.map(([key, due]) => ({ data: { key }, startAfter: new Date(due) })));
    }
  });
}
