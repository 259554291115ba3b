/** How a command of a server's own machine shows that it is one: it has read what only the server's user can read. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { MINUTE } from './clock.ts';

/** The header that it stands in. */
export const DOCTOR_HEADER = 'X-Gatehouse-Doctor';

/** @param secret of the running server. It does not go along: whoever is called in its place learns nothing that lasts. */
export function doctorPass(secret: string, now: number): string {
  return `${now}.${digestOf(secret, String(now)).toString('base64url')}`;
}

/** Good for a minute. */
export function isDoctorPass(text: string, secret: string, now: number): boolean {
  const [, time = '', given = ''] = /^(\d{1,16})\.([\w-]{43})$/.exec(text) ?? [];
  if (time === '' || Math.abs(now - Number(time)) > MINUTE) return false;
  return timingSafeEqual(Buffer.from(given, 'base64url'), digestOf(secret, time));
}

function digestOf(secret: string, time: string): Buffer {
  return createHmac('sha256', secret).update(`doctor ${time}`).digest();
}
