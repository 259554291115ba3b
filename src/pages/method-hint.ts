/** Cookie by which a browser hints that a passkey was its last sign-in method, so that the first step shows it first. */
const COOKIE = 'gatehouse.method=passkey';
const YEAR_SECONDS = 365 * 86_400;

/** Returns whether a passkey was used last. Anybody can set it: it decides only the order of the methods. */
export function hasPasskeyHint({ headers }: Request): boolean {
  return headers.get('cookie')?.includes(COOKIE) ?? false;
}

/** Returns the value to assign to `document.cookie`. */
export function passkeyHint(isLast: boolean): string {
  return `${COOKIE}; Path=/; Max-Age=${isLast ? YEAR_SECONDS : 0}; SameSite=Lax`;
}
