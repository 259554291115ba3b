/** Keys that sign ID tokens and logout tokens. They are in the database, so every instance signs with the same. */
import {
  CompactSign,
  compactVerify,
  type CryptoKey,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTPayload,
} from 'jose';
import { SYSTEM_ACTOR } from '../../core/actor.ts';
import { type Clock, DAY, HOUR } from '../../core/clock.ts';
import { newId } from '../../core/id.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { Database, Unit } from '../../db/database.ts';
import type { Job } from '../../jobs/scheduler.ts';
import { SIGNING_ALGORITHMS } from '../../store/oauth-clients.ts';
import {
  findLastKeyEnd,
  findPublicKey,
  findSigningKey,
  insertSigningKey,
  listPublicKeys,
  type SigningAlgorithm,
  type SigningKey,
} from '../../store/signing-keys.ts';

/** How long a key signs. */
export const KEY_LIFETIME_MS = 90 * DAY;
/** Time before the end of a key at which its successor is made: clients read it before it signs. */
const SUCCESSION_MS = 2 * DAY;
/** How long a key is published after its last signature, and the difference of clocks that instances may have. */
const OVERLAP_MS = DAY;
const RSA_BITS = 2048;

/** Types of our tokens (RFC 8725 §3.11), so that none passes as another. */
export type OwnTokenType = 'JWT' | 'logout+jwt';

/** A published key; further members depend on its type (RFC 7517). */
export interface PublishedJwk {
  kty: string;
  kid: string;
  use: string;
  alg: string;
  [member: string]: unknown;
}

export interface JwkSet {
  keys: PublishedJwk[];
}

export interface SigningKeyDependencies {
  readonly db: Pick<Database, 'reader' | 'write'>;
  readonly clock: Clock;
  readonly instanceKey: Pick<InstanceKey, 'seal' | 'unseal'>;
  /** The issuer of every token: this server's public URL. */
  readonly baseUrl: () => string;
}

type SealedKey = Pick<SigningKey, 'id' | 'sealedPrivateJwk'>;

export type SigningKeys = ReturnType<typeof signingKeyService>;

/** Makes the first keys when they are needed, so that an instance without OpenID clients has none. */
export function signingKeyService({ db, clock, instanceKey, baseUrl }: SigningKeyDependencies) {
  /** Imported private keys by their id. */
  const imported = new Map<string, Promise<CryptoKey>>();
  const inProgress = new Map<SigningAlgorithm, Promise<void>>();

  async function makeKey(alg: SigningAlgorithm): Promise<Pick<SigningKey, 'id' | 'publicJwk' | 'sealedPrivateJwk'>> {
    const pair = await generateKeyPair(alg, { extractable: true, modulusLength: RSA_BITS });
    const id = newId('signingKey', clock.now());
    const [publicJwk, privateJwk] = await Promise.all([exportJWK(pair.publicKey), exportJWK(pair.privateKey)]);
    return {
      id,
      publicJwk: { ...publicJwk, kid: id, use: 'sig', alg },
      sealedPrivateJwk: await instanceKey.seal('signing key', JSON.stringify(privateJwk)),
    };
  }

  /** @param term says from when the key signs; null where none is needed any more. */
  async function addKey(alg: SigningAlgorithm, term: (unit: Unit) => Promise<number | null>): Promise<void> {
    const key = await makeKey(alg);
    await db.write(SYSTEM_ACTOR, async (unit) => {
      unit.requireSerializable();
      const signsFrom = await term(unit);
      if (signsFrom === null) return;
      const signsUntil = Math.max(signsFrom, unit.now) + KEY_LIFETIME_MS;
      await insertSigningKey(unit, { ...key, alg, signsFrom, signsUntil });
    });
  }

  /** Backdated: an instance whose clock is behind finds the key as well, and makes none of its own. */
  const firstTerm = (alg: SigningAlgorithm) => async (unit: Unit) =>
    (await findSigningKey(unit, { alg, now: unit.now })) ? null : unit.now - OVERLAP_MS;

  const isEnding = (end: number | null, now: number): end is number => end !== null && end <= now + SUCCESSION_MS;

  const nextTerm = (alg: SigningAlgorithm) => async (unit: Unit) => {
    const end = await findLastKeyEnd(unit, alg);
    return isEnding(end, unit.now) ? Math.max(end, unit.now - OVERLAP_MS) : null;
  };

  /** Concurrent calls of one process share a key pair: RSA keys take long to make. */
  async function addFirst(alg: SigningAlgorithm): Promise<void> {
    const current = inProgress.get(alg);
    if (current) return current;
    const added = addKey(alg, firstTerm(alg)).finally(() => inProgress.delete(alg));
    inProgress.set(alg, added);
    return added;
  }

  async function currentKey(alg: SigningAlgorithm): Promise<SealedKey> {
    const found = () => findSigningKey(db.reader, { alg, now: clock.now() });
    const key = await found();
    if (key) return key;
    await addFirst(alg);
    const first = await found();
    if (!first) throw new Error(`no ${alg} key signs now`);
    return first;
  }

  function privateKeyOf({ id, sealedPrivateJwk }: SealedKey, alg: SigningAlgorithm): Promise<CryptoKey> {
    const known = imported.get(id);
    if (known) return known;
    const key = instanceKey
      .unseal('signing key', sealedPrivateJwk)
      .then((text) => importJWK(JSON.parse(text) as JWK, alg) as Promise<CryptoKey>);
    imported.set(id, key);
    key.catch(() => imported.delete(id));
    return key;
  }

  return {
    /** Returns a signed JWT with these claims and our `iss`. Call it outside of a change: it may make a key. */
    async sign(alg: SigningAlgorithm, typ: OwnTokenType, claims: JWTPayload): Promise<string> {
      const key = await currentKey(alg);
      return new CompactSign(Buffer.from(JSON.stringify({ ...claims, iss: baseUrl() })))
        .setProtectedHeader({ alg, typ, kid: key.id })
        .sign(await privateKeyOf(key, alg));
    },

    /** Returns the public keys: those that sign, will sign soon, or have signed tokens that may still be valid. */
    async jwks(): Promise<JwkSet> {
      await Promise.all(SIGNING_ALGORITHMS.map(currentKey));
      const keys = await listPublicKeys(db.reader, clock.now() - OVERLAP_MS);
      return { keys: keys.map(({ publicJwk }) => publicJwk as PublishedJwk) };
    },

    /**
     * Returns the claims of a token that we issued as this type, however old; null for any other text. The key alone
     * decides the algorithm.
     */
    async verifyOwn(token: string, typ: OwnTokenType): Promise<JWTPayload | null> {
      const kid = keyIdOf(token);
      const key = kid === null ? undefined : await findPublicKey(db.reader, kid);
      if (!key) return null;
      const verified = await verifiedBy(token, key);
      return verified?.typ === typ && verified.claims.iss === baseUrl() ? verified.claims : null;
    },

    /** Makes the successor of each key that ends soon. */
    async rotate(): Promise<void> {
      for (const alg of SIGNING_ALGORITHMS)
        if (isEnding(await findLastKeyEnd(db.reader, alg), clock.now())) await addKey(alg, nextTerm(alg));
    },
  };
}

function keyIdOf(token: string): string | null {
  try {
    const { kid } = decodeProtectedHeader(token);
    return typeof kid === 'string' ? kid : null;
  } catch {
    return null;
  }
}

async function verifiedBy(
  token: string,
  { alg, publicJwk }: Pick<SigningKey, 'alg' | 'publicJwk'>,
): Promise<{ typ: unknown; claims: JWTPayload } | null> {
  const key = await importJWK(publicJwk as JWK, alg);
  try {
    const { payload, protectedHeader } = await compactVerify(token, key, { algorithms: [alg] });
    return { typ: protectedHeader.typ, claims: JSON.parse(new TextDecoder().decode(payload)) as JWTPayload };
  } catch {
    return null;
  }
}

/** Replaces signing keys ahead of their end. */
export function rotationJob({ rotate }: Pick<SigningKeys, 'rotate'>): Job {
  return { name: 'signing keys', everyMs: HOUR, isDueAtStart: true, isExclusive: true, runOnce: rotate };
}
