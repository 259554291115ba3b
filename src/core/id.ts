/** Identifiers in TypeID form: a kind prefix and a base32 UUIDv7 that sorts by creation; for users a random UUIDv4. */
import { TypeID } from 'typeid-js';
import { systemRandom } from './random.ts';

export const ID_PREFIXES = {
  workspace: 'wsp',
  workspaceMember: 'wsm',
  application: 'app',
  client: 'cli',
  user: 'usr',
  applicationUser: 'apu',
  apiKey: 'key',
  session: 'ses',
  role: 'rol',
  scope: 'scp',
  membershipGroup: 'mgr',
  betaInterest: 'bet',
  challenge: 'chl',
  address: 'adr',
  legalEntity: 'ent',
  passkey: 'psk',
  providerIdentity: 'idp',
  deviceGrant: 'dvg',
  event: 'evt',
  audit: 'aud',
  mail: 'mail',
  webhook: 'whk',
  delivery: 'dlv',
  longWork: 'wrk',
  bulkChange: 'blk',
  backup: 'bkp',
  signingKey: 'sgk',
  request: 'req',
} as const;

export type IdKind = keyof typeof ID_PREFIXES;
/** Kinds whose ids sort by creation. */
export type RecordKind = Exclude<IdKind, 'user'>;

/**
 * Returns a new id; later ones sort behind it. TypeID v0.3, https://github.com/jetify-com/typeid/tree/main/spec. User
 * ids are random: a caller that imports an address gets its holder's id, and an ordered id would show when they joined.
 *
 * @param now in epoch milliseconds.
 */
export function newId(kind: IdKind, now: number): string {
  const uuid = kind === 'user' ? randomUuid() : Bun.randomUUIDv7('buffer', now);
  return TypeID.fromUUIDBytes(ID_PREFIXES[kind], uuid).toString();
}

/** Returns the lowest id of a kind at a time, in epoch milliseconds: ids of that time and later ones sort behind it. */
export function firstIdAt(kind: RecordKind, time: number): string {
  const uuid = new Uint8Array(16);
  new DataView(uuid.buffer).setBigUint64(0, BigInt(Math.max(0, Math.floor(time))) << 16n);
  return TypeID.fromUUIDBytes(ID_PREFIXES[kind], uuid).toString();
}

/** Returns the id of a kind that sorts among its kind as another id does among its own: ids made earlier sort before it. */
export function idBeside(kind: RecordKind, id: string): string {
  return `${ID_PREFIXES[kind]}${id.slice(id.lastIndexOf('_'))}`;
}

/** Returns the time of creation in an id, in epoch milliseconds. @throws if it is none of ours. */
export function timeOfId(id: string): number {
  return Number(new DataView(TypeID.fromString(id).toUUIDBytes().slice().buffer).getBigUint64(0) >> 16n);
}

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';
/** Every possible ending of an id: its last ten bits. */
const ENDS = [...BASE32].flatMap((first) => [...BASE32].map((second) => first + second));

/** Returns a fast id generator for records: counts on from one random id per millisecond (RFC 9562 §6.2, method 2). */
export function idSeries(kind: IdKind): (now: number) => string {
  let at = NaN;
  let head = '';
  let used = 0;
  return (now) => {
    if (now !== at || used === ENDS.length) {
      at = now;
      head = newId(kind, now).slice(0, -2);
      used = 0;
    }
    return head + ENDS[used++];
  };
}

/** Returns a UUIDv4 (RFC 9562 §5.4). */
function randomUuid(): Uint8Array {
  const bytes = systemRandom.bytes(16);
  bytes.set([((bytes[6] ?? 0) & 0x0f) | 0x40], 6);
  bytes.set([((bytes[8] ?? 0) & 0x3f) | 0x80], 8);
  return bytes;
}
