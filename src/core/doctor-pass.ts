/** Proves that a command may ask a server for what concerns its operator: both have a secret that only they can read. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { MINUTE } from './clock.ts';
import type { InstanceKey } from './instance-key.ts';

export const DOCTOR_HEADER = 'X-Gatehouse-Doctor';

/** Lets a server and commands recognize each other. */
export interface InstanceIdentity {
  readonly instanceId: string;
  readonly pass: string;
}

/** Returns the identity of all instances on one database: whoever has their key recognizes them. */
export function sharedIdentity(key: Pick<InstanceKey, 'derive'>): InstanceIdentity {
  const text = (part: string) => Buffer.from(key.derive('doctor', part)).toString('base64url');
  return { instanceId: text('id'), pass: text('pass') };
}

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
