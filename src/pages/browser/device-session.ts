/** Keeps the session of the device page in this tab until the decision, as a phone may load the page again before it. */

const KEY = 'gatehouse.device';

/** In this tab alone, until it is closed. Never throws. */
export function keepDeviceSession(userCode: string, token: string): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ userCode, token }));
  } catch {
    // Storage is switched off: after a reload one signs in again.
  }
}

/** The session kept for this code, if any. */
export function keptDeviceSession(userCode: string): string | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as { userCode: string; token: string } | null;
    return kept?.userCode === userCode ? kept.token : null;
  } catch {
    return null;
  }
}

/** Never throws. */
export function forgetDeviceSession(): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // Nothing was kept.
  }
}
