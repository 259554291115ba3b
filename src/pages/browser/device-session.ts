/** Keeps the device page's session in this tab until the decision: phones may reload a page in the background. */

const KEY = 'gatehouse.device';

/** Stores the session in this tab only. Never throws. */
export function keepDeviceSession(userCode: string, token: string): void {
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
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // Without storage there is nothing to remove.
  }
}
