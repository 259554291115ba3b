/** OAuth clients of the OpenID provider: applications that have set it up, and clients that sign in to the console. */
import { isClosed } from '../../core/application-state.ts';
import type { Clock } from '../../core/clock.ts';
import { COMMAND_LINE_CLIENT_ID } from '../../core/console.ts';
import type { Database, Reader } from '../../db/database.ts';
import { type Application, requireConsole } from '../../store/applications.ts';
import { findClientWithApplication, type OAuthClientRow } from '../../store/oauth-clients.ts';

/** A client that may ask for sign-ins now. */
export interface OpenIdClient {
  readonly clientId: string;
  /** The application that its people sign in to; the console for the command line and for registered clients. */
  readonly application: Application;
  /** The application's name; of a registered client the one that it gave itself. */
  readonly name: string;
  readonly kind: OAuthClientRow['kind'];
  /** Includes the page of the console that tries a sign-in out. */
  readonly redirectUris: readonly string[];
  readonly postLogoutRedirectUris: readonly string[];
  readonly alg: OAuthClientRow['idTokenAlg'];
  readonly jwks: OAuthClientRow['jwks'];
  /** Its codes are exchanged for personal keys, not for sessions. */
  readonly isConsole: boolean;
}

export interface OAuthClientDependencies {
  readonly db: Pick<Database, 'reader'>;
  readonly clock: Clock;
  /** This server's public URL, without a trailing slash. */
  readonly baseUrl: () => string;
}

/** Page of the console that tries a sign-in out; accepted for every application, and listed for none. */
const TRIAL_PATH = '/console/openid-try';

/** Name of a registered client that gave itself none. */
const UNNAMED = 'Unnamed client';

/** The command line listens on any port of the loopback address (RFC 8252 §7.3). */
const COMMAND_LINE = {
  clientId: COMMAND_LINE_CLIENT_ID,
  name: 'Gatehouse command line',
  kind: 'public',
  redirectUris: ['http://127.0.0.1/callback'],
  postLogoutRedirectUris: [],
  alg: 'RS256',
  jwks: null,
  isConsole: true,
} as const satisfies Omit<OpenIdClient, 'application'>;

export type OAuthClients = ReturnType<typeof openIdClients>;

export function openIdClients({ db, clock, baseUrl }: OAuthClientDependencies) {
  return {
    /** Returns null for an unknown client, one that has expired, and one whose application is closed. */
    async find(clientId: string, reader: Reader = db.reader): Promise<OpenIdClient | null> {
      if (clientId === COMMAND_LINE_CLIENT_ID) return { ...COMMAND_LINE, application: await requireConsole(reader) };
      const found = await findClientWithApplication(reader, clientId);
      if (!found) return null;
      const { client: row, application } = found;
      if ((row.expiresAt !== null && row.expiresAt <= clock.now()) || isClosed(application)) return null;
      const isConsole = application.workspaceId === null;
      return {
        clientId,
        application,
        name: isConsole ? (row.name ?? UNNAMED) : application.name,
        kind: row.kind,
        redirectUris: isConsole ? row.redirectUris : [...row.redirectUris, baseUrl() + TRIAL_PATH],
        postLogoutRedirectUris: row.postLogoutRedirectUris,
        alg: row.idTokenAlg,
        jwks: row.jwks,
        isConsole,
      };
    },
  };
}
