/**
 * Two instances behind a proxy, on PostgreSQL with a synchronous standby, under a mixed load and faults: instances are
 * killed, the database is restarted, its standby is promoted, and its network is cut. Every promise is verified. Needs
 * haproxy, and PostgreSQL's server programs with pg_basebackup.
 *
 *   bun build.ts && bun test/faults/cluster.ts --kills 50 --restarts 20 --promotions 5 --cuts 2 --seconds 2
 */
import { parseArgs } from 'node:util';
import { runCluster } from './cluster/run.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '5' },
    restarts: { type: 'string', default: '3' },
    promotions: { type: 'string', default: '1' },
    cuts: { type: 'string', default: '0' },
    /** Load between two faults. */
    seconds: { type: 'string', default: '2' },
    bin: { type: 'string', default: '/usr/lib/postgresql/15/bin' },
    pgbouncer: { type: 'boolean', default: false },
  },
});

const { faults, ...result } = await runCluster({
  counts: {
    kill: Number(values.kills),
    restart: Number(values.restarts),
    promotion: Number(values.promotions),
    cut: Number(values.cuts),
  },
  pauseMs: Number(values.seconds) * 1000,
  bin: values.bin,
  canRebuild: true,
  isBouncer: values.pgbouncer,
  tell: (text) => console.error(text),
});
const summary = (of: readonly number[]) => {
  const sorted = of.map(Math.round).toSorted((one, other) => one - other);
  return { medianMs: sorted[sorted.length >> 1], longestMs: sorted.at(-1) };
};
const back = Object.entries(Object.groupBy(faults, ({ kind }) => kind)).map(([kind, of]) => ({
  kind,
  count: of.length,
  ready: summary(of.map(({ readyMs }) => readyMs)),
  changes: summary(of.map(({ backMs }) => backMs)),
}));
const { problems } = result;
console.log(JSON.stringify({ ...result, problems: problems.slice(0, 50), back }, null, 1));
process.exit(problems.length === 0 ? 0 : 1);
