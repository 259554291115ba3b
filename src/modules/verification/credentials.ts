/** Credentials of callers, found by their secret and judged live; says of a refused key that was valid once why. */
import { timingSafeEqual } from 'node:crypto';
import { isClosed } from '../../core/application-state.ts';
import { type Clock, isoTime } from '../../core/clock.ts';
import { type MaybePromise, whenReadyWith } from '../../core/maybe-promise.ts';
import type { KeyPrincipal, PersonalKeyPrincipal, SessionPrincipal } from '../../core/principal.ts';
import { hashSecret, isSecret } from '../../core/secret.ts';
import type { Reader } from '../../db/database.ts';
import type { Credentials, DeadKey } from '../../http/authenticate.ts';
import { type Application, findApplicationByClientId } from '../../store/applications.ts';
import { findRetiredKeyToken } from '../../store/retired-key-tokens.ts';
import { findKeyCredential, findSessionSubject, type KeyCredential } from '../../store/verification.ts';
import { listWorkspacesOf } from '../../store/workspace-members.ts';
import type { Judge } from './judge.ts';
import type { TokenRefusal } from './model.ts';
import { findPageSubject } from './page-subject.ts';
import type { SessionSubject, Subjects } from './subject.ts';
import { type Validity, validityOfKey } from './validity.ts';

/** Compared if a client is unknown or has no secret, for constant time; no secret hashes to it. */
const NO_HASH = new Uint8Array(32);

export interface CredentialsDependencies {
  readonly clock: Clock;
  readonly judge: Judge;
  readonly subjects: Subjects;
}

/** A key with its principal, which is cached with it; null for a personal key. */
interface FoundKey extends KeyCredential, Validity {
  readonly principal: KeyPrincipal | null;
}

/** Answers at once where the database does, as SQLite. */
export function credentialsOf({ clock, judge, subjects }: CredentialsDependencies): Credentials {
  const { ofSession } = subjects;

  function judged(found: FoundKey | undefined, reader: Reader, hash: Uint8Array): ReturnType<Credentials['findKey']> {
    if (found === undefined) return replacedKey(reader, hash);
    const now = clock.now();
    const refusal = judge.refusalOf(found, now);
    if (refusal !== null) return deadKey(found, refusal, now);
    return found.principal ?? personalKey(found, reader);
  }

  async function awaited(found: Promise<FoundKey | undefined>, reader: Reader, hash: Uint8Array) {
    return judged(await found, reader, hash);
  }

  function judgedSession(row: SessionSubject | undefined, reader: Reader): ReturnType<Credentials['findSession']> {
    return row === undefined ? 'invalid_token' : (judge.refusalOf(row, clock.now()) ?? sessionPrincipal(row, reader));
  }

  return {
    findKey(token, reader) {
      // The checksum refuses malformed and made-up tokens without a database lookup.
      if (!isSecret('apiKey', token)) return null;
      const hash = hashSecret(token);
      const found = findKeyCredential(reader, hash, withPrincipal);
      return found instanceof Promise ? awaited(found, reader, hash) : judged(found, reader, hash);
    },
    findSession(token, reader) {
      if (!isSecret('session', token)) return 'invalid_token';
      return whenReadyWith(findSessionSubject(reader, hashSecret(token), ofSession), reader, judgedSession);
    },
    async findPageSession(value, reader) {
      if (isSecret('session', value)) return this.findSession(value, reader);
      const row = await findPageSubject(reader, value, ofSession);
      if (row === undefined) return 'invalid_token';
      return judge.refusalOf(row, clock.now()) ?? { ...(await sessionPrincipal(row, reader)), isOfPage: true };
    },
    async findClient(clientId, secret, reader) {
      const application = await findApplicationByClientId(reader, clientId);
      if (
        !isClientSecret(secret, application) ||
        !application ||
        application.workspaceId === null ||
        isClosed(application)
      )
        return null;
      return { kind: 'client', applicationId: application.id, workspaceId: application.workspaceId };
    },
  };
}

/** Compares in constant time. @param application undefined for an unknown client. */
export function isClientSecret(
  secret: string,
  application: Pick<Application, 'clientSecretHash'> | undefined,
): boolean {
  return timingSafeEqual(hashSecret(secret), application?.clientSecretHash ?? NO_HASH);
}

function withPrincipal(row: KeyCredential): FoundKey {
  const validity = validityOfKey(row);
  if (row.source === 'device') return { ...row, ...validity, principal: null };
  const { keyId, userId, keyWorkspaceId, keyApplicationId, keyApplicationIds, access, perMinute, perDay } = row;
  const principal: KeyPrincipal = {
    kind: 'key',
    keyId,
    userId,
    workspaceId: keyWorkspaceId,
    applicationId: keyApplicationId,
    applicationIds: keyApplicationIds === null ? null : (JSON.parse(keyApplicationIds) as string[]),
    access,
    perMinute,
    perDay,
  };
  return { ...row, ...validity, principal };
}

async function personalKey(row: KeyCredential, reader: Reader): Promise<PersonalKeyPrincipal | null> {
  const { keyId, userId, keyApplicationId: applicationId, perMinute, perDay, isConsole } = row;
  if (applicationId === null) return null;
  const workspaces = isConsole ? await listWorkspacesOf(reader, userId) : [];
  return { kind: 'personal_key', keyId, userId, applicationId, perMinute, perDay, isConsole, workspaces };
}

function sessionPrincipal(row: SessionSubject, reader: Reader): MaybePromise<SessionPrincipal> {
  if (row.workspaceId !== null) return principalOf(row, []);
  // The live list of workspaces that a console user may manage.
  return listWorkspacesOf(reader, row.userId).then((workspaces) => principalOf(row, workspaces));
}

function principalOf(row: SessionSubject, workspaces: SessionPrincipal['workspaces']): SessionPrincipal {
  const { sessionId, userId, applicationId, applicationUserId, workspaceId } = row;
  return {
    kind: 'session',
    sessionId,
    isOfPage: false,
    userId,
    profileId: row.profileUserId ?? userId,
    applicationId,
    applicationUserId,
    workspaceId,
    isConsole: workspaceId === null,
    workspaces,
    identity: row,
  };
}

/** Explains a token that a rotation has replaced; null if it never existed. */
async function replacedKey(reader: Reader, hash: Uint8Array): Promise<DeadKey | null> {
  const retired = await findRetiredKeyToken(reader, hash);
  const refusal = 'invalid_token';
  return retired
    ? { kind: 'dead_key', refusal, hint: 'dead_key_replaced', values: { at: isoTime(retired.retiredAt) } }
    : null;
}

/** Explains why a key is refused; its own end is named before that of its member. */
function deadKey(row: FoundKey, refusal: TokenRefusal, now: number): DeadKey {
  const { revokedAt, expiresAt, gracePeriodEndsAt: graceEnd, endsAt, endedAt, isOutdated } = row;
  const dead = { kind: 'dead_key', refusal } as const;
  if (revokedAt !== null) return { ...dead, hint: 'dead_key_revoked', values: { at: isoTime(revokedAt) } };
  if (isOutdated) return { ...dead, hint: 'dead_key_ended' };
  const [grace, expiry] = [graceEnd ?? Infinity, expiresAt ?? Infinity];
  if (endsAt <= now || endedAt !== null || refusal === 'expired')
    return {
      ...dead,
      hint: grace <= expiry ? 'dead_key_rotated' : 'dead_key_expired',
      values: { at: isoTime(endsAt) },
    };
  return { ...dead, hint: 'dead_key_blocked' };
}
