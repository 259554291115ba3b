/** Remembers in this browser how its reader signed in last, so that the next time begins there. Never throws. */

/** How, and by which address. */
export interface LastSignIn {
  readonly method: 'otp' | 'passkey' | 'provider';
  readonly email: string | null;
}

const KEY = 'gatehouse.last-sign-in';

/** By whatever application it was: the person is the same. */
export function rememberLastSignIn(last: LastSignIn): void {
  try {
    const email = last.email ?? lastSignIn()?.email ?? null;
    localStorage.setItem(KEY, JSON.stringify({ ...last, email }));
  } catch {
    // Storage is switched off: the page works, it only forgets.
  }
}

export function lastSignIn(): LastSignIn | null {
  try {
    const last = JSON.parse(localStorage.getItem(KEY) ?? 'null') as LastSignIn | null;
    return last && typeof last.method === 'string' ? last : null;
  } catch {
    return null;
  }
}
