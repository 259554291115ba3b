/**
 * The places for what is fetched on a caller's word, while they wait: checks of addresses, and what identity providers
 * publish. They are few and their own, shared by workspace, so that hanging ones stop neither deliveries nor others' checks.
 */
import { freePlaces } from './shares.ts';

/** With those of deliveries, far fewer than the 256 requests that this process can have under way. */
const PLACES = 64;
/** A little longer than one of these fetches may take. */
const WAIT_MS = 6000;

/** All places that the workspace may use were taken for as long as one waits. */
export class NoPlaceError extends Error {
  constructor() {
    super('no place became free for an outgoing request');
    this.name = 'NoPlaceError';
  }
}

/** Runs outgoing work, so many at once. */
export interface Probes {
  /**
   * @param workspaceId whose places it uses; null for the console's own.
   * @throws {NoPlaceError} where none becomes free in time; nothing was done then.
   */
  run<Result>(workspaceId: string | null, work: () => Promise<Result>): Promise<Result>;
}

interface Waiter {
  readonly workspaceId: string | null;
  readonly begin: () => void;
}

export function probePool({ places = PLACES, waitMs = WAIT_MS }: { places?: number; waitMs?: number } = {}): Probes {
  const used = new Map<string | null, number>();
  const waiting = new Set<Waiter>();
  let all = 0;

  function hasPlace(workspaceId: string | null): boolean {
    return freePlaces(places, { all, workspaces: used.size, own: used.get(workspaceId) ?? 0 }) > 0;
  }

  function take(workspaceId: string | null): void {
    used.set(workspaceId, (used.get(workspaceId) ?? 0) + 1);
    all += 1;
  }

  /** The place goes to whoever has waited longest of those who may have it. */
  function free(workspaceId: string | null): void {
    const left = (used.get(workspaceId) ?? 1) - 1;
    if (left > 0) used.set(workspaceId, left);
    else used.delete(workspaceId);
    all -= 1;
    for (const waiter of waiting) {
      if (!hasPlace(waiter.workspaceId)) continue;
      take(waiter.workspaceId);
      waiting.delete(waiter);
      waiter.begin();
      return;
    }
  }

  async function place(workspaceId: string | null): Promise<void> {
    if (hasPlace(workspaceId)) return take(workspaceId);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { workspaceId, begin: resolve };
    waiting.add(waiter);
    const timer = setTimeout(() => {
      waiting.delete(waiter);
      reject(new NoPlaceError());
    }, waitMs);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async run(workspaceId, work) {
      await place(workspaceId);
      try {
        return await work();
      } finally {
        free(workspaceId);
      }
    },
  };
}
