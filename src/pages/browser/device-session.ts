/** Keeps the device page's session in this tab until the decision: phones may reload a page in the background. */

import { expectLaterStep } from './later-step.ts';

const KEY = 'gatehouse.device';
/** Lifetime of a user code. */
const KEPT_SECONDS = 15 * 60;

/** Stores the session in this tab only. Never throws. */
export function keepDeviceSession(userCode: string, token: string): void {
  expectLaterStep(KEPT_SECONDS);
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ userCode, token }));
  } catch {
    // Storage is disabled: after a reload the reader signs in again.
  }
}

export function keptDeviceSession(userCode: string): string | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as { userCode: string; token: string } | null;
    return kept?.userCode === userCode ? kept.token : null;
  } catch {
    return null;
  }
}

export function forgetDeviceSession(): void {
  expectLaterStep(0);
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // Without storage there is nothing to remove.
  }
}
