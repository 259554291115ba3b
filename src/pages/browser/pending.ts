/** Stores a sent code's challenge in this tab, so that it survives a reload, which phones do during app switches. */

import { expectLaterStep } from './later-step.ts';

export interface Pending {
  email: string;
  challengeId: string;
  /** Epoch milliseconds of this device. */
  resendAt: number;
  expiresAt: number;
  /** Wrong attempts so far. */
  wrongTries?: number;
}

const key = (clientId: string) => `gatehouse.pending.${clientId}`;

/** @param pending null deletes it. Never throws. */
export function savePending(clientId: string, pending: Pending | null): void {
  expectLaterStep(pending ? (pending.expiresAt - Date.now()) / 1_000 : 0);
  try {
    if (pending) sessionStorage.setItem(key(clientId), JSON.stringify(pending));
    else sessionStorage.removeItem(key(clientId));
  } catch {
    // Storage is disabled: a reload loses the challenge.
  }
}

/** Returns the stored challenge unless expired. */
export function loadPending(clientId: string): Pending | null {
  try {
    const pending = JSON.parse(sessionStorage.getItem(key(clientId)) ?? 'null') as Pending | null;
    return pending && pending.expiresAt > Date.now() ? pending : null;
  } catch {
    return null;
  }
}

/** Returns whether the page was loaded by a reload or history navigation. */
export function isReload(): boolean {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return navigation?.type === 'reload' || navigation?.type === 'back_forward';
}
