/** Proves that a command runs on the server's machine: it has read a secret that only the server's user can read. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { MINUTE } from './clock.ts';

export const DOCTOR_HEADER = 'X-Gatehouse-Doctor';

/** Returns the proof, which does not contain the secret: an impostor server learns nothing that lasts. */
export function doctorPass(secret: string, now: number): string {
  return `${now}.${digestOf(secret, String(now)).toString('base64url')}`;
}

/** Returns true if the proof is valid and made within a minute of `now`. */
export function isDoctorPass(text: string, secret: string, now: number): boolean {
  const [, time = '', given = ''] = /^(\d{1,16})\.([\w-]{43})$/.exec(text) ?? [];
  if (time === '' || Math.abs(now - Number(time)) > MINUTE) return false;
  return timingSafeEqual(Buffer.from(given, 'base64url'), digestOf(secret, time));
}

function digestOf(secret: string, time: string): Buffer {
  return createHmac('sha256', secret).update(`doctor ${time}`).digest();
}
