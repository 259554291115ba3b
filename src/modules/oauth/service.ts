/** Introspects and revokes tokens for the application they belong to. Callers authenticate the client first. */
import { onBehalfOf } from '../../core/actor.ts';
import { type Clock, SECOND } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import { type OAuthClient } from '../../core/principal.ts';
import { mayIntrospect } from '../../core/access-control.ts';
import { hashSecret, isSecret } from '../../core/secret.ts';
import type { Author, Database } from '../../db/database.ts';
import { findRefreshToken } from '../../store/oauth-grants.ts';
import { findOpenSession } from '../../store/sessions.ts';
import type { PersonalKeys } from '../devices/personal-keys.ts';
import type { Sessions } from '../sessions/service.ts';
import type { Verification } from '../verification/service.ts';
import { isOfPerson } from '../verification/subject.ts';
import type { Introspection } from './model.ts';

export interface TokenDependencies {
  readonly db: Pick<Database, 'reader'>;
  readonly clock: Clock;
  readonly verification: Pick<Verification, 'introspect' | 'look'>;
  readonly sessions: Sessions;
  readonly personalKeys: PersonalKeys;
  readonly baseUrl: () => string;
}

export type Introspect = (client: OAuthClient, token: string) => Promise<Introspection>;

/** Returns `active: false` without a reason for every token that is invalid or another client's (RFC 7662 §2.2). */
export function introspection({
  verification,
  baseUrl,
}: Pick<TokenDependencies, 'verification' | 'baseUrl'>): Introspect {
  return async (client: OAuthClient, token: string): Promise<Introspection> => {
    const row = await verification.introspect(client, token);
    if (row === null) return { active: false };
    const { userId: sub, clientId, issuedAt, endsAt } = row;
    const { username, email, fullName: name, roles, scopes, memberships } = row.envelope;
    return {
      active: true,
      sub,
      client_id: clientId,
      aud: clientId,
      iss: baseUrl(),
      jti: 'sessionId' in row ? row.sessionId : row.keyId,
      token_type: 'Bearer',
      iat: seconds(issuedAt),
      ...(endsAt !== Infinity && { exp: seconds(endsAt) }),
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
      ...(username !== null && { username }),
      ...(isOfPerson(row) && { email }),
      ...(name && { name }),
      roles,
      memberships,
    };
  };
}

export type Tokens = ReturnType<typeof tokenService>;

export function tokenService({ db, clock, verification, sessions, personalKeys, baseUrl }: TokenDependencies) {
  /** Holding a token is enough to end it; an application that hands it in acts for its holder. */
  const actorFor = (client: OAuthClient, author: Author, userId: string) =>
    client.kind === 'client' ? onBehalfOf(author, userId) : author;

  async function revokeRefreshToken(client: OAuthClient, author: Author, token: string): Promise<void> {
    const known = await findRefreshToken(db.reader, hashSecret(token));
    const session = known && (await findOpenSession(db.reader, { id: known.sessionId, now: clock.now() }));
    if (!session) return;
    const { userId, applicationId, workspaceId } = session;
    if (!mayIntrospect(client, { id: applicationId, workspaceId }))
      throw new AppError('invalid_grant', { hint: 'token_of_another_client' });
    await sessions.signOut(session, actorFor(client, author, userId));
  }

  return {
    introspect: introspection({ verification, baseUrl }),

    /**
     * Ends a session by one of its tokens, like its holder's sign-out, or a personal key. Unknown and ended tokens succeed
     * (RFC 7009 §2.2).
     *
     * @throws {AppError} invalid_grant for another client's token, unsupported_token_type for a backend's key.
     */
    async revoke(client: OAuthClient, author: Author, token: string): Promise<void> {
      if (isSecret('refresh', token)) return revokeRefreshToken(client, author, token);
      const looked = await verification.look(token);
      if (!looked) return;
      const { row, refusal } = looked;
      const { userId, applicationId, workspaceId } = row;
      if (!mayIntrospect(client, { id: applicationId, workspaceId })) {
        if (refusal === null) throw new AppError('invalid_grant', { hint: 'token_of_another_client' });
        return;
      }
      const actor = actorFor(client, author, userId);
      if ('sessionId' in row) await sessions.signOut({ userId, applicationId, sessionId: row.sessionId }, actor);
      else if (isOfPerson(row)) await personalKeys.revoke(actor, { userId, workspaceId }, row.keyId);
      else if (refusal === null) throw new AppError('unsupported_token_type');
    },
  };
}

function seconds(at: number): number {
  return Math.floor(at / SECOND);
}
