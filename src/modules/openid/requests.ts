/** Finds client and redirect URI of an authorization request: only a registered URI is ever sent an answer. */
import { isClosed } from '../../core/application-state.ts';
import { AppError } from '../../core/error.ts';
import type { Database } from '../../db/database.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { findApplicationByClientId } from '../../store/applications.ts';
import { type AuthorizationRequest, onlyValue, parseAuthorization, type Parsed } from './authorization-request.ts';
import type { OAuthClients, OpenIdClient } from './clients.ts';
import { isRegistered, withParameters } from './redirect-uris.ts';

/** Longest query: with our own parameters it still is an address to which an identity provider may return. */
const MAX_QUERY = 3_500;

export interface RequestDependencies {
  readonly db: Database;
  readonly clients: Pick<OAuthClients, 'find'>;
  /** This server's public URL, without a trailing slash. */
  readonly baseUrl: () => string;
  /** Test instances accept any loopback address, registered or not. */
  readonly isLoopbackOpen: boolean;
}

/** An authorization request whose answers have an address. */
export interface AddressedRequest {
  readonly client: OpenIdClient;
  readonly redirectUri: string;
  /** The request as a query, without our own parameters. */
  readonly query: URLSearchParams;
  readonly parsed: Parsed;
}

export type AuthorizationRequests = ReturnType<typeof authorizationRequests>;

export function authorizationRequests({ db, clients, baseUrl, isLoopbackOpen }: RequestDependencies) {
  /** @throws {AppError} not_found, application_archived */
  async function clientNamed(clientId: string | null, context: RequestContext): Promise<OpenIdClient> {
    const client = clientId === null ? null : await clients.find(clientId);
    const application =
      client?.application ?? (clientId === null ? undefined : await findApplicationByClientId(db.reader, clientId));
    context.application = application ?? null;
    if (client) return client;
    if (application && isClosed(application)) throw new AppError('application_archived');
    throw new AppError('not_found', { hint: 'application_unknown' });
  }

  return {
    clientNamed,

    /**
     * Returns a request with the address of its answers, which the person may be sent to from now on.
     *
     * @throws {AppError} not_found, application_archived, invalid_request: shown to the person, since no address can be
     * trusted.
     */
    async addressed(query: URLSearchParams, context: RequestContext): Promise<AddressedRequest> {
      if (query.toString().length > MAX_QUERY) throw new AppError('invalid_request');
      const client = await clientNamed(onlyValue(query, 'client_id'), context);
      const redirectUri = onlyValue(query, 'redirect_uri');
      if (redirectUri === null || !isRegistered(redirectUri, client.redirectUris, { isLoopbackOpen }))
        throw new AppError('invalid_request', { hint: 'return_url_unregistered' });
      const parsed = parseAuthorization(query, client.isConsole ? `${baseUrl()}/mcp` : null);
      return { client, redirectUri, query, parsed };
    },

    /** Returns the address of an answer. `iss` protects clients of several servers (RFC 9207). */
    answerTo(
      { redirectUri }: Pick<AddressedRequest, 'redirectUri'>,
      { state }: Pick<AuthorizationRequest, 'state'>,
      answer: Readonly<Record<string, string>>,
    ): string {
      return withParameters(redirectUri, { ...answer, state: state ?? undefined, iss: baseUrl() });
    },
  };
}
