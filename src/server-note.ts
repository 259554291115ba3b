/** The note that a running server writes for commands on its own machine. */
import type { InstanceIdentity } from './core/doctor-pass.ts';
import type { Random } from './core/random.ts';
import type { ServerNote } from './db/opened-data.ts';
import type { Dependencies } from './dependencies.ts';
import { VERSION } from './version.ts';

const ID_BYTES = 9;
const PASS_BYTES = 32;

export function newIdentity(random: Random): InstanceIdentity {
  const text = (bytes: number) => Buffer.from(random.bytes(bytes)).toString('base64url');
  return { instanceId: text(ID_BYTES), pass: text(PASS_BYTES) };
}

export function noteOf(
  { config, db, clock, mail, baseUrl }: Dependencies,
  identity: InstanceIdentity,
  localUrl: string,
): ServerNote {
  const given = config.shown.filter(({ isDefault }) => !isDefault);
  return {
    pid: process.pid,
    url: baseUrl(),
    localUrl,
    startedAt: clock.now(),
    version: VERSION,
    schemaVersion: db.schemaVersion,
    mailServer: 'onCapture' in mail ? null : (mail.server ?? null),
    settings: Object.fromEntries(given.map(({ name, value }) => [name, value ?? ''])),
    ...identity,
  };
}
