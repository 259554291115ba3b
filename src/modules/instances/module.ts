/** Keeps the row of this instance among those on its database, and compares its clock with the database's. */
import { hostname } from 'node:os';
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import { DAY, SECOND } from '../../core/clock.ts';
import { BOOKKEEPING, type Database } from '../../db/database.ts';
import type { Module, ModuleContext } from '../module.ts';
import { clockWarning, compareClocks } from './clock.ts';
import { deleteInstance, noteInstance, purgeInstances } from '../../store/instances.ts';
import { purgeWorkLeases } from '../../store/work-leases.ts';

const SEEN_EVERY_MS = 10 * SECOND;
const KEPT_MS = DAY;

type RegistryContext = Pick<ModuleContext, 'db' | 'clock' | 'log' | 'baseUrl' | 'leaseHolder'> & {
  readonly instance: Pick<ModuleContext['instance'], 'version'>;
};

const MODULES: Readonly<Record<Database['engine'], (context: RegistryContext) => Module>> = {
  // A folder has one instance.
  sqlite: () => ({}),
  postgres: instanceRegistry,
};

export function instancesModule(context: RegistryContext): Module {
  return MODULES[context.db.engine](context);
}

export function instanceRegistry(context: RegistryContext): Module {
  const { db, clock, leaseHolder: id, log, baseUrl, instance } = context;
  let startedAt: number | null = null;
  let lastWarning: string | null = null;
  let renewal: Promise<void> | undefined;

  async function renewNow(): Promise<void> {
    const { databaseTime: seenAt, offsetMs } = await compareClocks(db.reader, clock);
    startedAt ??= seenAt;
    const row = { id, version: instance.version, baseUrl: baseUrl(), host: hostname(), startedAt, seenAt };
    await db.write(
      SYSTEM_ACTOR,
      async (unit) => {
        await noteInstance(unit, { ...row, clockOffsetMs: offsetMs });
        await purgeInstances(unit, seenAt - KEPT_MS);
        await purgeWorkLeases(unit, seenAt - KEPT_MS);
      },
      BOOKKEEPING,
    );
    const warning = clockWarning(offsetMs);
    if (warning !== null && lastWarning === null) log.warn({ offsetMs }, warning);
    lastWarning = warning;
  }

  const renew = (): Promise<void> => (renewal = renewNow());

  return {
    jobs: [{ name: 'instances', everyMs: SEEN_EVERY_MS, runOnce: renew }],
    start: renew,
    async stop() {
      await renewal?.catch(() => {});
      await db.write(SYSTEM_ACTOR, (unit) => deleteInstance(unit, id), BOOKKEEPING);
    },
  };
}
