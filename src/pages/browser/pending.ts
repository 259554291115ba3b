/** Remembers a sent code in this tab, so that a reload (phones do it while one reads the mail) does not lose it. */

/** A code that was sent, and may still be typed. */
export interface Pending {
  email: string;
  challengeId: string;
  /** This device's epoch milliseconds. */
  resendAt: number;
  expiresAt: number;
  /** Wrong codes so far. */
  wrongTries?: number;
}

const key = (clientId: string) => `gatehouse.pending.${clientId}`;

/** @param pending null forgets it. Never throws. */
export function savePending(clientId: string, pending: Pending | null): void {
  try {
    if (pending) sessionStorage.setItem(key(clientId), JSON.stringify(pending));
    else sessionStorage.removeItem(key(clientId));
  } catch {
    // Storage is switched off: the page works, it only forgets on reload.
  }
}

/** What was saved, as long as the code is still alive. */
export function loadPending(clientId: string): Pending | null {
  try {
    const pending = JSON.parse(sessionStorage.getItem(key(clientId)) ?? 'null') as Pending | null;
    return pending && pending.expiresAt > Date.now() ? pending : null;
  } catch {
    return null;
  }
}

/** True where the browser brought this page back, rather than the reader coming to sign in. */
export function isReload(): boolean {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return navigation?.type === 'reload' || navigation?.type === 'back_forward';
}
