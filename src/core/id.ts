/** Identifiers in TypeID form: a prefix that names the kind, then a UUIDv7 in base32, so ids sort by creation. */
import { TypeID } from 'typeid-js';

/** Every kind of id the product hands out. */
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
  request: 'req',
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

/**
 * A new id; later ones sort behind it. TypeID v0.3, https://github.com/jetify-com/typeid/tree/main/spec.
 *
 * @param now in epoch milliseconds.
 */
export function newId(kind: IdKind, now: number): string {
  return TypeID.fromUUIDBytes(ID_PREFIXES[kind], Bun.randomUUIDv7('buffer', now)).toString();
}
