/** Keeps a person's request for access in this browser, per application, so that a later visit shows it. */
import type { WaitlistStanding } from '../../core/waitlist-standing.ts';

export interface AccessRequest extends WaitlistStanding {
  readonly email: string;
  /** Asks the server for the present standing; null where the address was not proved. */
  readonly ticket: string | null;
}

const key = (clientId: string) => `gatehouse.access-request.${clientId}`;

/** Never throws. */
export function rememberRequest(clientId: string, { email, status, since, ticket }: AccessRequest): void {
  try {
    localStorage.setItem(key(clientId), JSON.stringify({ email, status, since, ticket }));
  } catch {
    // Storage is disabled: a later visit does not show the request.
  }
}

export function rememberedRequest(clientId: string): AccessRequest | null {
  try {
    const request = JSON.parse(localStorage.getItem(key(clientId)) ?? 'null') as AccessRequest | null;
    return request && typeof request.email === 'string' ? request : null;
  } catch {
    return null;
  }
}

export function forgetRequest(clientId: string): void {
  try {
    localStorage.removeItem(key(clientId));
  } catch {
    // Storage is disabled: nothing was kept.
  }
}
