/** Consent to a client that signs in to the console: its codes are exchanged for keys, which outlive the session. */
import { onBehalfOf } from '../../core/actor.ts';
import type { Clock } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import { equalDigests, type InstanceKey } from '../../core/instance-key.ts';
import type { Random } from '../../core/random.ts';
import type { Author, Database, Unit } from '../../db/database.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { requireApplication } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { requireMemberById } from '../../store/members.ts';
import { grantsOf, type KeyRights } from '../devices/approval.ts';
import { refusalToMember } from '../devices/grants.ts';
import { keyEnd } from '../devices/key-days.ts';
import type { PersonalKeys } from '../devices/personal-keys.ts';
import { requireFresh } from '../sign-in/step-up.ts';
import { type AuthorizationRequest, requestIn } from './authorization-request.ts';
import type { OpenIdClient } from './clients.ts';
import { issueCode } from './codes.ts';
import { keyDaysByDefault } from './console-exchange.ts';
import type { ConsoleSession, ConsoleSessions } from '../page-sessions/console-sessions.ts';
import { formTarget } from './redirect-uris.ts';
import type { AddressedRequest, AuthorizationRequests } from './requests.ts';

export interface ConsentDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly instanceKey: InstanceKey;
  readonly requests: AuthorizationRequests;
  readonly consoleSessions: ConsoleSessions;
  readonly personalKeys: Pick<PersonalKeys, 'refuseFurther'>;
}

/** Content of the consent page, and the values that its form sends. */
export interface ConsentAsked {
  readonly client: OpenIdClient;
  readonly redirectUri: string;
  /** CSP source of the redirect URI, to which the form leads. */
  readonly formTarget: string;
  readonly grants: KeyRights;
  /** The request as a query. */
  readonly query: string;
  /** Proves that this server showed the request to this session. */
  readonly confirmation: string;
  /** When the key will end; null if only a disconnection ends it. */
  readonly keyEndsAt: number | null;
  readonly locales: string | null;
}

export interface ConsentDecision {
  readonly request: string;
  readonly confirmation: string;
  readonly decision: 'allow' | 'deny';
}

const AUDITED = { allow: 'device.approved', deny: 'device.denied' } as const;

export type Consents = ReturnType<typeof consentService>;

export function consentService(dependencies: ConsentDependencies) {
  const { db, clock, random, instanceKey, requests, consoleSessions, personalKeys } = dependencies;

  /** Binds a decision to the session of the cookie and to the request that was shown. */
  const confirmationOf = (value: string, query: URLSearchParams) =>
    instanceKey.derive('authorization decision', `${value}\0${query}`);

  async function record(
    unit: Unit,
    decision: ConsentDecision['decision'],
    client: OpenIdClient,
    userId: string,
  ): Promise<void> {
    await recordAudit(unit, {
      kind: AUDITED[decision],
      applicationId: client.application.id,
      workspaceId: client.application.workspaceId,
      userId,
      targetId: client.clientId,
      detail: { device: client.name },
    });
  }

  /** @returns the code; null where the person may get no key. @throws {AppError} reauthentication_required, invalid_state */
  async function allow(
    unit: Unit,
    { client, redirectUri }: AddressedRequest,
    request: AuthorizationRequest,
    browser: Request,
  ): Promise<string | null> {
    const session = await consoleSessions.find(browser, unit);
    if (!session) throw new AppError('reauthentication_required');
    await requireFresh(unit, session.principal);
    const { applicationUserId, sessionId, userId } = session.principal;
    const application = await requireApplication(unit, client.application.id);
    const member = await requireMemberById(unit, applicationUserId);
    if ((await refusalToMember(unit, application, member)) !== null) return null;
    await personalKeys.refuseFurther(unit, userId);
    const code = await issueCode(unit, random, {
      clientId: client.clientId,
      applicationId: application.id,
      applicationUserId,
      pageSessionId: sessionId,
      redirectUri,
      codeChallenge: request.codeChallenge,
      scope: request.scope,
      nonce: request.nonce,
      keyDays: request.keyDays,
      userAgent: browser.headers.get('user-agent'),
    });
    await record(unit, 'allow', client, userId);
    return code;
  }

  return {
    /** Returns what the person is asked. */
    async ask(
      { client, redirectUri, query, request }: AddressedRequest & { readonly request: AuthorizationRequest },
      { value, principal }: ConsoleSession,
    ): Promise<ConsentAsked> {
      return {
        client,
        redirectUri,
        formTarget: formTarget(redirectUri),
        grants: await grantsOf(db.reader, principal),
        query: query.toString(),
        confirmation: Buffer.from(confirmationOf(value, query)).toString('base64url'),
        keyEndsAt: keyEnd(clock.now(), request.keyDays, keyDaysByDefault(client)),
        locales: request.locales,
      };
    },

    /**
     * Carries a decision out. Nothing happens for another session, or another request, than the page was shown for.
     *
     * @returns where to go: to the client, or to the request again if it has to be asked anew; null for the latter.
     * @throws {AppError} not_found, application_archived, invalid_request, invalid_state
     */
    async decide(
      context: RequestContext,
      actor: Author,
      { request: text, confirmation, decision }: ConsentDecision,
    ): Promise<string | null> {
      const addressed = await requests.addressed(requestIn(new URLSearchParams(text)), context);
      const { client, parsed, query } = addressed;
      if (!parsed.isOk || !client.isConsole) return null;
      const session = await consoleSessions.find(context.request, db.reader);
      if (!session) return null;
      const shown = Buffer.from(confirmation, 'base64url');
      if (!equalDigests(confirmationOf(session.value, query), shown)) return null;
      const { userId } = session.principal;
      const author = onBehalfOf(actor, userId);
      const answer = (values: Readonly<Record<string, string>>) => requests.answerTo(addressed, parsed.request, values);
      if (decision === 'deny') {
        await db.write(author, (unit) => record(unit, 'deny', client, userId));
        return answer({ error: 'access_denied' });
      }
      try {
        const code = await db.write(author, (unit) => allow(unit, addressed, parsed.request, context.request));
        return answer(code === null ? { error: 'access_denied' } : { code });
      } catch (error) {
        // The person proves who they are again, and is asked again.
        if (error instanceof AppError && error.code === 'reauthentication_required') return null;
        throw error;
      }
    },
  };
}
