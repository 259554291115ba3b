/** Verifies session tokens and API keys live at every use, for this server's calls and for backends. */
import type { Clock } from '../../core/clock.ts';
import type { Envelope } from '../../core/envelope.ts';
import { AppError } from '../../core/error.ts';
import { type MaybePromise, whenReady, whenReadyWith } from '../../core/maybe-promise.ts';
import type { Cell, Metrics } from '../../core/metrics.ts';
import type { KeyPrincipal, OAuthClient, PersonPrincipal, Principal, SessionPrincipal } from '../../core/principal.ts';
import { mayIntrospect } from '../../core/access-control.ts';
import { hashSecret, isSecret } from '../../core/secret.ts';
import type { Reader } from '../../db/database.ts';
import { findApplication, TOKEN_REFUSALS } from '../../store/applications.ts';
import {
  findAttributes,
  findKeySubject,
  findLiveSlugs,
  findSessionSubject,
  findSessionSubjectById,
} from '../../store/verification.ts';
import { credentialsOf } from './credentials.ts';
import type { FirstVerified } from './first-verified.ts';
import { judgeOf } from './judge.ts';
import type { LastSeen } from './last-seen.ts';
import type { Includable, TokenRefusal } from './model.ts';
import { findPageSubject } from './page-subject.ts';
import { isOfPerson, type KeySubject, type SessionSubject, subjects } from './subject.ts';
import type { AcceptedVerdict, Verdict } from './verdict.ts';

export interface VerificationDependencies {
  readonly reader: Reader;
  readonly clock: Clock;
  readonly seen: Pick<LastSeen, 'sessionSeen' | 'keyUsed'>;
  readonly first: Pick<FirstVerified, 'verified' | 'refused'>;
  readonly cdnUrl: () => string;
  readonly metrics: Metrics;
}

const OUTCOMES = ['ok', ...TOKEN_REFUSALS] as const;
type Outcome = (typeof OUTCOMES)[number];

const UNKNOWN = { ok: false, error: 'invalid_token' } as const satisfies Verdict;

export interface Looked {
  readonly row: SessionSubject | KeySubject;
  readonly refusal: TokenRefusal | null;
}

/** A session or key whose changes a stream follows, with its holder. */
export interface Followed {
  /** The application of its membership: the console for most keys of a workspace. */
  readonly applicationId: string;
  /** The workspace whose budget the stream counts against; null for the console. */
  readonly workspaceId: string | null;
  readonly userId: string;
  readonly credentialId: string;
  /** The hash of a key's token, null for a session. The stream ends once the key has another token. */
  readonly keyHash: Uint8Array | null;
}

export type Verification = ReturnType<typeof verificationService>;

/** A ban, a sign-out or a removed role takes effect at its commit. Answers at once where the database does, as SQLite. */
export function verificationService({ reader, clock, seen, first, cdnUrl, metrics }: VerificationDependencies) {
  const { judge, refusalOf } = judgeOf(seen);
  const made = subjects(cdnUrl);
  const { ofSession, ofKey } = made;
  const credentials = credentialsOf({ clock, judge: { judge, refusalOf }, subjects: made });
  const verdicts = metrics.counter('gatehouse_verdicts_total', 'Verified tokens, by endpoint and outcome.', {
    endpoint: ['verify', 'session', 'introspect'],
    outcome: OUTCOMES,
  });
  const cellsOf = (endpoint: string) =>
    Object.fromEntries(OUTCOMES.map((outcome) => [outcome, verdicts.cell(endpoint, outcome)])) as Record<Outcome, Cell>;
  const [verified, sessionsJudged, introspected] = [cellsOf('verify'), cellsOf('session'), cellsOf('introspect')];

  /**
   * Records the first verification of an application. An unknown token, or one of another application, counts for the
   * caller's application; a workspace key with several applications has none. A verified backend key is not a session
   * and does not count.
   */
  function noteVerdict(
    caller: OAuthClient,
    row: SessionSubject | KeySubject | null,
    refusal: TokenRefusal | null,
    now: number,
  ): void {
    if (refusal !== null) {
      const applicationId = row?.applicationId ?? onlyApplicationOf(caller);
      if (applicationId !== null) first.refused(applicationId, refusal, now);
    } else if (row !== null && isOfPerson(row)) first.verified(row.applicationId, now);
  }

  function find(token: string): MaybePromise<SessionSubject | KeySubject | undefined> {
    if (isSecret('session', token)) return findSessionSubject(reader, hashSecret(token), ofSession);
    return isSecret('apiKey', token) ? findKeySubject(reader, hashSecret(token), ofKey) : undefined;
  }

  /** @param row undefined for an unknown token. */
  function verdictOn(row: SessionSubject | KeySubject | undefined, caller: KeyPrincipal): Verdict {
    const now = clock.now();
    if (!row || !mayIntrospect(caller, { id: row.applicationId, workspaceId: row.workspaceId })) {
      verified.invalid_token.count += 1;
      noteVerdict(caller, null, UNKNOWN.error, now);
      return UNKNOWN;
    }
    const refusal = refusalOf(row, now);
    verified[refusal ?? 'ok'].count += 1;
    noteVerdict(caller, row, refusal, now);
    if (refusal !== null) return { ok: false, error: refusal };
    return { ok: true, subject: row };
  }

  return {
    credentials,

    /** Returns the subject of any issued token; does not count as use. */
    async look(token: string): Promise<Looked | null> {
      const row = await find(token);
      return row ? { row, refusal: judge(row, clock.now()) } : null;
    },

    /** Returns the session of a page cookie's value, ended or not; does not count as use. */
    async lookAtPage(
      value: string,
    ): Promise<{ readonly row: SessionSubject; readonly refusal: TokenRefusal | null } | null> {
      const row = await (isSecret('session', value)
        ? findSessionSubject(reader, hashSecret(value), ofSession)
        : findPageSubject(reader, value, ofSession));
      return row ? { row, refusal: judge(row, clock.now()) } : null;
    },

    /** Returns a valid token's subject if the client may see it, which counts as use; else null. */
    async introspect(client: OAuthClient, token: string): Promise<SessionSubject | KeySubject | null> {
      const row = await find(token);
      const now = clock.now();
      const isAsked =
        row !== undefined && mayIntrospect(client, { id: row.applicationId, workspaceId: row.workspaceId });
      const refusal = isAsked ? refusalOf(row, now) : 'invalid_token';
      introspected[refusal ?? 'ok'].count += 1;
      noteVerdict(client, isAsked ? row : null, refusal, now);
      return isAsked && refusal === null ? row : null;
    },

    /** A backend's key sees only its own tenants' tokens: any other is `invalid_token`, as if unknown. */
    verify(caller: KeyPrincipal, token: string): MaybePromise<Verdict> {
      return whenReadyWith(find(token), caller, verdictOn);
    },

    /** Returns JSON members to add to the data of a verdict, each with a comma before it. */
    included({ subject: { applicationUserId } }: AcceptedVerdict, fields: readonly Includable[]): MaybePromise<string> {
      return whenReady(findAttributes(reader, applicationUserId), (found) => {
        const texts = { externalId: JSON.stringify(found?.externalId ?? null), metadata: found?.metadata ?? '{}' };
        return [...new Set(fields)].map((field) => `,"${field}":${texts[field]}`).join('');
      });
    },

    /** Returns the session or key of a valid token, for a stream of its changes. @throws {AppError} invalid_token */
    async followedBy(principal: Principal, token: string): Promise<Followed> {
      const { userId } = principal;
      if (principal.kind === 'session') {
        const { applicationId, workspaceId, sessionId: credentialId } = principal;
        return { applicationId, workspaceId, userId, credentialId, keyHash: null };
      }
      const keyHash = hashSecret(token);
      const row = await findKeySubject(reader, keyHash, ofKey);
      if (!row) throw new AppError('invalid_token');
      const workspaceId = principal.kind === 'key' ? principal.workspaceId : row.workspaceId;
      return { applicationId: row.applicationId, workspaceId, userId, credentialId: row.keyId, keyHash };
    },

    /** Returns the identity of a valid session or key; null once it has ended. */
    async envelopeOf({ credentialId, keyHash }: Followed): Promise<Envelope | null> {
      const row = await (keyHash === null
        ? findSessionSubjectById(reader, credentialId, ofSession)
        : findKeySubject(reader, keyHash, ofKey));
      return row && judge(row, clock.now()) === null ? row.envelope : null;
    },

    /** @throws {AppError} not_found for an application out of reach or without an active membership of the person. */
    async liveSlugs(principal: PersonPrincipal, applicationId = principal.applicationId) {
      if (!(await isWithinReach(reader, principal, applicationId))) throw new AppError('not_found');
      const held = await findLiveSlugs(reader, principal.userId, applicationId);
      if (!held) throw new AppError('not_found');
      return held;
    },

    /** Counts a verdict that a session's holder asked for. @param session null if the token was refused. */
    noteSessionVerdict(outcome: Outcome, session: SessionPrincipal | null): void {
      sessionsJudged[outcome].count += 1;
      if (session !== null) first.verified(session.applicationId, clock.now());
    },
  };
}

/** Returns the caller's only application; null for a workspace key that reaches several. */
function onlyApplicationOf(caller: OAuthClient): string | null {
  if (caller.kind === 'client' || caller.applicationId !== null) return caller.applicationId;
  const [only, ...others] = caller.applicationIds ?? [];
  return others.length === 0 ? (only ?? null) : null;
}

/** Limits sessions and personal keys to their own workspace, except those of the console. */
async function isWithinReach(reader: Reader, principal: PersonPrincipal, applicationId: string): Promise<boolean> {
  if (principal.isConsole || applicationId === principal.applicationId) return true;
  const [own, other] = [
    await findApplication(reader, principal.applicationId),
    await findApplication(reader, applicationId),
  ];
  return other !== undefined && own?.workspaceId === other.workspaceId;
}
