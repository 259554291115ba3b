/** OpenID settings of applications: read and changed by those who manage them. */
import type { Actor } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import { AppError, type FieldProblem } from '../../core/error.ts';
import type { Database, Reader, Unit } from '../../db/database.ts';
import { beginTask } from '../../jobs/background-tasks.ts';
import type { TenantApplication } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { endOAuthClient, findOAuthClient, type OAuthClientRow, saveOAuthClient } from '../../store/oauth-clients.ts';
import { endOAuthCodesOf } from '../../store/oauth-codes.ts';
import { type BackchannelLogout, removeBackchannel } from './backchannel.ts';
import { clientSessionEndings } from './client-session-endings.ts';
import type { OpenIdInput, OpenIdSettings } from './model.ts';
import { AUTHORIZATION_PATH, DISCOVERY_PATH, END_SESSION_PATH, JWKS_PATH, TOKEN_PATH, USERINFO_PATH } from './paths.ts';
import { publicKeyProblem } from './public-keys.ts';
import { redirectProblem } from './redirect-uris.ts';

export interface OpenIdSettingsDependencies {
  readonly db: Database;
  readonly backchannel: BackchannelLogout;
  /** The issuer. */
  readonly baseUrl: () => string;
  /** Whether confidential clients may have http addresses on loopback too (dev and ephemeral instances). */
  readonly isLoopbackAllowed: boolean;
}

type Stored = Pick<OAuthClientRow, 'kind' | 'redirectUris' | 'postLogoutRedirectUris' | 'idTokenAlg' | 'jwks'>;

/** Settings before the first change. */
const UNSET: Stored & { readonly updatedAt: number | null } = {
  kind: 'confidential',
  redirectUris: [],
  postLogoutRedirectUris: [],
  idTokenAlg: 'RS256',
  jwks: null,
  updatedAt: null,
};

export type OpenIdSettingsService = ReturnType<typeof openIdSettings>;

export function openIdSettings({ db, backchannel, baseUrl, isLoopbackAllowed }: OpenIdSettingsDependencies) {
  async function present(reader: Reader, application: TenantApplication): Promise<OpenIdSettings> {
    const row = await stored(reader, application.clientId);
    // After a switch-off the endpoint stays for what is still to be sent.
    const logout = row === UNSET ? null : await backchannel.describe(reader, application.id);
    const at = (path: string) => baseUrl() + path;
    return {
      redirectUris: row.redirectUris,
      postLogoutRedirectUris: row.postLogoutRedirectUris,
      clientType: row.kind === 'public' ? 'public' : 'confidential',
      idTokenAlg: row.idTokenAlg,
      jwks: row.jwks as OpenIdSettings['jwks'],
      backchannelLogoutUri: logout?.uri ?? null,
      issuer: baseUrl(),
      clientId: application.clientId,
      hasSecret: application.clientSecretHash !== null,
      backchannelStatus: logout?.status ?? null,
      endpoints: {
        discovery: at(DISCOVERY_PATH),
        authorization: at(AUTHORIZATION_PATH),
        token: at(TOKEN_PATH),
        userinfo: at(USERINFO_PATH),
        endSession: at(END_SESSION_PATH),
        jwks: at(JWKS_PATH),
      },
      updatedAt: isoTime(row.updatedAt),
    };
  }

  function problemsOf({ kind, redirectUris, postLogoutRedirectUris, jwks }: Stored): FieldProblem[] {
    // A program on the person's own device listens on loopback (RFC 8252 §7.3).
    const rules = { isLoopbackAllowed: isLoopbackAllowed || kind === 'public' };
    const ofUris = Object.entries({ redirectUris, postLogoutRedirectUris }).flatMap(([field, uris]) =>
      uris.flatMap((uri, index) => problemAt(`${field}.${index}`, redirectProblem(uri, rules))),
    );
    const hasRightKind = kind !== 'public' || jwks === null;
    return [...ofUris, ...problemAt('jwks', hasRightKind ? null : 'A public client keeps no private key: give null.')];
  }

  /** Checks the given keys alone, before a write: stored ones were checked, and importing a key is no statement. */
  async function problemsOfKeys({ jwks }: OpenIdInput): Promise<FieldProblem[]> {
    const problems = await Promise.all(jwks?.keys.map(publicKeyProblem) ?? []);
    return problems.flatMap((problem, index) => problemAt(`jwks.keys.${index}`, problem));
  }

  /** @throws {AppError} invalid_request */
  async function save(
    unit: Unit,
    { id, clientId }: TenantApplication,
    input: OpenIdInput,
    ofKeys: readonly FieldProblem[],
  ): Promise<void> {
    const row = await stored(unit, clientId);
    const wanted = changed(row, input);
    const fields = [...problemsOf(wanted), ...ofKeys];
    if (fields.length > 0) throw new AppError('invalid_request', { fields });
    await saveOAuthClient(unit, { clientId, applicationId: id, ...wanted });
    if (row === UNSET && input.backchannelLogoutUri === undefined) await removeBackchannel(unit, id);
  }

  return {
    /** Returns what is wrong with a change; of a new application with null. Its writing checks again. */
    async problemsWith(input: OpenIdInput, application: TenantApplication | null): Promise<FieldProblem[]> {
      const row = application === null ? UNSET : await stored(db.reader, application.clientId);
      const logout = input.backchannelLogoutUri == null ? null : backchannel.problem(input.backchannelLogoutUri);
      return [
        ...problemsOf(changed(row, input)),
        ...(await problemsOfKeys(input)),
        ...problemAt('backchannelLogoutUri', logout),
      ];
    },

    /** Returns the settings; before the first change, with their defaults. */
    get: (application: TenantApplication): Promise<OpenIdSettings> => present(db.reader, application),

    /** Sets OpenID up, or changes it; optional fields that are left out stay unchanged. @throws {AppError} invalid_request */
    async set(actor: Actor, application: TenantApplication, input: OpenIdInput): Promise<OpenIdSettings> {
      const { id: applicationId, workspaceId } = application;
      const { backchannelLogoutUri } = input;
      const change = backchannelLogoutUri === undefined ? null : await backchannel.prepare(backchannelLogoutUri);
      const ofKeys = await problemsOfKeys(input);
      return db.write(actor, async (unit) => {
        await save(unit, application, input, ofKeys);
        await change?.(unit, applicationId);
        await recordAudit(unit, {
          kind: 'application.openid_changed',
          applicationId,
          workspaceId,
          targetId: applicationId,
          detail: { fields: Object.keys(input) },
        });
        return present(unit, application);
      });
    },

    /**
     * Switches OpenID off: the client and its codes and refresh tokens are refused from now on, and the sessions that it
     * got end. Idempotent.
     */
    async remove(actor: Actor, application: TenantApplication): Promise<OpenIdSettings> {
      const { id: applicationId, workspaceId, clientId } = application;
      return db.write(actor, async (unit) => {
        if ((await endOAuthClient(unit, clientId)) > 0) {
          await endOAuthCodesOf(unit, clientId);
          await beginTask(unit, clientSessionEndings, { applicationId, data: { at: unit.now } });
          const kind = 'application.openid_ended';
          await recordAudit(unit, { kind, applicationId, workspaceId, targetId: applicationId });
        }
        return present(unit, application);
      });
    },
  };
}

/** Returns the settings of an application's own client; {@link UNSET} for none, and for one that was switched off. */
async function stored(reader: Reader, clientId: string): Promise<Stored & { readonly updatedAt: number | null }> {
  const row = await findOAuthClient(reader, clientId);
  return row?.expiresAt === null ? row : UNSET;
}

function changed(row: Stored, input: OpenIdInput): Stored {
  return {
    kind: input.clientType ?? row.kind,
    redirectUris: input.redirectUris,
    postLogoutRedirectUris: input.postLogoutRedirectUris ?? row.postLogoutRedirectUris,
    idTokenAlg: input.idTokenAlg ?? row.idTokenAlg,
    jwks: input.jwks === undefined ? row.jwks : input.jwks,
  };
}

function problemAt(path: string, message: string | null): FieldProblem[] {
  return message === null ? [] : [{ path, message }];
}
