/** Faults of a run, one after the other, each with the time until both instances served changes again. */
import { eventually } from '../../support/eventually.ts';
import { INSTANCES, type InstanceName, type ServerPair } from './instances.ts';
import type { PostgresPair } from './postgres-pair.ts';

export type FaultKind = 'kill' | 'restart' | 'promotion' | 'cut';

export interface Fault {
  readonly kind: FaultKind;
  /** By the wall clock; until the instances served changes again. */
  readonly begin: number;
  readonly end: number;
  /** Time from the return of the database, or of the killed process, until the last instance made a change. */
  readonly backMs: number;
  /** Time until the last instance was ready, as a load balancer sees it. */
  readonly readyMs: number;
}

export interface FaultParts {
  readonly database: PostgresPair;
  readonly servers: ServerPair;
  /** Makes a change at an instance. @returns whether it was made. */
  readonly change: (at: InstanceName) => Promise<boolean>;
  /** Whether a standby can be rebuilt after a promotion. */
  readonly canRebuild: boolean;
}

const DOWN_MS = 1500;
const CUT_MS = 15_000;

export type Counts = Readonly<Record<FaultKind, number>>;

/** Returns the faults in a fixed order that mixes the kinds evenly. */
export function scheduleOf(counts: Counts): FaultKind[] {
  const kinds = Object.keys(counts) as FaultKind[];
  return kinds
    .flatMap((kind) => Array.from({ length: counts[kind] }, (_, at) => ({ kind, at: (at + 0.5) / counts[kind] })))
    .toSorted((one, other) => one.at - other.at)
    .map(({ kind }) => kind);
}

/** Injects one fault and waits for its end. @param turn chooses the instance to kill */
export async function inject(kind: FaultKind, turn: number, parts: FaultParts): Promise<Fault> {
  const begin = Date.now();
  const back = await FAULTS[kind](parts, turn);
  const fault = { kind, begin, end: Date.now(), ...back };
  if (kind === 'promotion' && parts.canRebuild) await parts.database.rebuildStandby();
  return fault;
}

type Back = Pick<Fault, 'backMs' | 'readyMs'>;

const FAULTS: Readonly<Record<FaultKind, (parts: FaultParts, turn: number) => Promise<Back>>> = {
  async kill(parts, turn) {
    const name = INSTANCES[turn % INSTANCES.length]!;
    await parts.servers.kill(name);
    await Bun.sleep(DOWN_MS / 3);
    await parts.servers.start(name);
    return untilBack(parts, [name]);
  },
  async restart(parts) {
    await parts.database.stopPrimary();
    await Bun.sleep(DOWN_MS);
    await parts.database.startPrimary();
    await parts.database.committing();
    return untilBack(parts, INSTANCES);
  },
  async promotion(parts) {
    await parts.database.stopPrimary();
    await Bun.sleep(DOWN_MS / 3);
    await parts.database.promote();
    await parts.database.committing();
    return untilBack(parts, INSTANCES);
  },
  async cut(parts) {
    parts.database.freeze();
    await Bun.sleep(CUT_MS);
    parts.database.thaw();
    await parts.database.committing();
    return untilBack(parts, INSTANCES);
  },
};

async function untilBack({ change, servers }: FaultParts, names: readonly InstanceName[]): Promise<Back> {
  const since = performance.now();
  const until = async (what: string, isThere: (name: InstanceName) => Promise<boolean>) => {
    await Promise.all(names.map((name) => eventually(`${what} at ${name}`, () => isThere(name), 60_000)));
    return performance.now() - since;
  };
  const isReady = async (name: InstanceName) =>
    (await fetch(`${servers.urls[name]}/readyz`, { keepalive: false }).catch(() => null))?.ok === true;
  const [readyMs, backMs] = await Promise.all([until('readiness', isReady), until('a change', change)]);
  return { readyMs, backMs };
}
