/** Stores the last sign-in method in this browser, to suggest it next time. Never throws. */
import { passkeyHint } from '../method-hint.ts';

export interface LastSignIn {
  readonly method: 'otp' | 'passkey' | 'provider';
  readonly email: string | null;
}

const KEY = 'gatehouse.last-sign-in';

/** Shared by all applications, since the person is the same. */
export function rememberLastSignIn(last: LastSignIn): void {
  try {
    const email = last.email ?? lastSignIn()?.email ?? null;
    localStorage.setItem(KEY, JSON.stringify({ ...last, email }));
    document.cookie = passkeyHint(last.method === 'passkey');
  } catch {
    // Storage is disabled: the method is not remembered.
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
