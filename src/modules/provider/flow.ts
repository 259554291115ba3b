/** Authorization code flow with PKCE (RFC 6749 §4.1, RFC 7636, RFC 9700, OpenID Connect Core 1.0 §3.1). */
import type { Logger } from 'pino';
import type { Actor } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import { CONSOLE_CLIENT_ID } from '../../core/console.ts';
import { AppError } from '../../core/error.ts';
import { canonicalLocale, canonicalTimeZone } from '../../core/language.ts';
import { preferredLocale } from '../../core/locale.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Random } from '../../core/random.ts';
import { required } from '../../core/required.ts';
import { isSecret, mintSecret } from '../../core/secret.ts';
import type { Database, Reader, Unit } from '../../db/database.ts';
import type { Probes } from '../../outbound/probes.ts';
import {
  type Application,
  findApplication,
  findApplicationByClientId,
  requireApplication,
} from '../../store/applications.ts';
import type { ProviderState } from '../../store/provider-states.ts';
import type { BrowserOf } from '../codes/code-challenge.ts';
import type { BrowserLocale } from '../sign-in/complete.ts';
import { requireFresh } from '../sign-in/step-up.ts';
import type { Sessions } from '../sessions/service.ts';
import type { SignedIn } from '../sign-in/model.ts';
import { openApplication } from '../sign-in/open-application.ts';
import { draftErrorDescription } from '../sign-in/refused.ts';
import type { EffectiveProvider, ProviderClients } from './clients.ts';
import { finishLink, finishSignIn } from './finish.ts';
import type { CallbackQuery, LinkInput, StartQuery } from './model.ts';
import type { ProviderProfile } from './profile.ts';
import { ProviderFault } from './protocol.ts';
import type { OpenIdRelyingParty } from './relying-party.ts';
import { isReturnAllowed, landingOf, ownPage, type ReturnRules } from './return-to.ts';
import { beginState, consumeState } from './states.ts';

export interface ProviderFlowDependencies {
  readonly db: Database;
  readonly random: Random;
  readonly sessions: Sessions;
  readonly clients: ProviderClients;
  readonly relyingParty: OpenIdRelyingParty;
  readonly probes: Probes;
  readonly returnRules: ReturnRules;
  readonly log: Logger;
}

export interface Landing {
  readonly location: string;
  readonly session: SignedIn | null;
  /** False where a workspace's own provider vouched, whose operator may be the one who signs in. */
  readonly isByHolder: boolean;
}

export interface ComingBack {
  readonly query: CallbackQuery;
  /** The browser's secret, from its cookie. */
  readonly browser: string | null;
  readonly userAgent: string | null;
  /** Recognises the browser among those that have signed the person in. */
  readonly pageBrowser: BrowserOf | null;
}

export interface SettingOut {
  readonly browser: string;
  readonly acceptLanguage: string | null;
}

interface Beginning {
  readonly application: Application;
  readonly returnTo: string;
  readonly browser: string;
  /** The person who links; null for a sign-in. */
  readonly principal: SessionPrincipal | null;
  readonly browserLocale: BrowserLocale;
}

/** A link needs none: the person is known already. */
const NO_BROWSER_LOCALE: BrowserLocale = { locale: null, timezone: null };

export type ProviderFlow = ReturnType<typeof providerFlow>;

/** Each flow can be finished once, within ten minutes, in the browser that started it. */
export function providerFlow({
  db,
  random,
  sessions,
  clients,
  relyingParty,
  probes,
  returnRules,
  log,
}: ProviderFlowDependencies) {
  /** Calls a provider within the workspace's concurrency limit. Its faults are logged; the person reads what to do. */
  async function heard<Result>(
    actor: Actor,
    issuer: string,
    { workspaceId }: Application,
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await probes.run(workspaceId, work);
    } catch (error) {
      if (!(error instanceof ProviderFault)) throw error;
      log.warn({ requestId: actor.requestId, issuer, err: error }, 'the identity provider failed');
      throw new AppError('provider_failed', { cause: error });
    }
  }

  function checkReturn(returnTo: string, application: Application): void {
    if (!isReturnAllowed(returnTo, application, returnRules))
      throw new AppError('invalid_request', {
        hint: 'return_url_unregistered',
        fields: [{ path: 'returnTo', message: 'Give an address at or below one of the application’s return URLs.' }],
      });
  }

  /** @returns the provider's authorization URL. */
  async function begin(
    actor: Actor,
    { application, returnTo, browser, principal, browserLocale }: Beginning,
  ): Promise<string> {
    const provider = await clients.effectiveOf(db.reader, application);
    if (!provider) throw new AppError('invalid_state', { hint: 'provider_missing' });
    checkReturn(returnTo, application);
    const { issuer, clientId } = provider;
    const state = mintSecret('providerState', random);
    const url = await heard(actor, issuer, application, () => relyingParty.authorizationUrl(provider, state));
    const sessionId = principal?.sessionId ?? null;
    await db.write(actor, async (unit) => {
      if (principal) await requireFresh(unit, principal);
      const applicationId = application.id;
      const target = { applicationId, issuer, clientId, returnTo };
      await beginState(unit, { state, ...target, browser, sessionId, ...browserLocale });
    });
    return url;
  }

  async function providerOf(
    reader: Reader,
    application: Application,
    { issuer, clientId }: ProviderState,
  ): Promise<EffectiveProvider> {
    const provider = await clients.effectiveOf(reader, application);
    if (provider?.issuer !== issuer || provider.clientId !== clientId)
      throw new AppError('invalid_state', { hint: 'provider_changed' });
    return provider;
  }

  async function finish(
    actor: Actor,
    flow: ProviderState,
    profile: ProviderProfile,
    { userAgent, pageBrowser }: Pick<ComingBack, 'userAgent' | 'pageBrowser'>,
  ): Promise<Landing> {
    const { purpose, sessionId, returnTo, applicationId, issuer, clientId, locale, timezone } = flow;
    const client = { issuer, clientId, reach: clients.reachOf(flow) };
    // Read again: both may have changed during the calls to the provider.
    const presentOf = async (unit: Unit) => {
      const application = await requireApplication(unit, applicationId);
      await providerOf(unit, application, flow);
      return application;
    };
    const land = (values: Record<string, string>, session: SignedIn | null = null) => ({
      location: landingOf(returnTo, values, returnRules.baseUrl()),
      session,
      isByHolder: client.reach === 'everywhere',
    });
    if (purpose === 'link') {
      try {
        await db.write(actor, async (unit) => {
          const application = await presentOf(unit);
          const linking = { application, profile, client, sessionId: required(sessionId, 'session of a link') };
          await finishLink(unit, sessions.notices, linking);
        });
        return land({ linked: 'provider' });
      } catch (error) {
        if (error instanceof AppError) return land({ error: error.code });
        throw error;
      }
    }
    const { application, outcome } = await db.write(actor, async (unit) => {
      const application = await presentOf(unit);
      const browserLocale = { locale, timezone };
      const ending = { application, profile, client, userAgent, pageBrowser, browserLocale };
      return { application, outcome: await finishSignIn(unit, sessions, ending) };
    });
    if (!outcome.ok) return land({ error: outcome.refusal, ...draftErrorDescription(outcome.refusal, application) });
    const { token, userId } = outcome;
    const expiresAt = isoTime(outcome.expiresAt);
    return land({ token, expiresAt }, { token, expiresAt, userId, applicationId });
  }

  return {
    /**
     * @throws {AppError} not_found, application_archived, forbidden, invalid_state, invalid_request, provider_failed
     */
    async start(
      actor: Actor,
      { clientId = CONSOLE_CLIENT_ID, returnTo, locale, timezone }: StartQuery,
      { browser, acceptLanguage }: SettingOut,
    ): Promise<string> {
      const application = openApplication(await findApplicationByClientId(db.reader, clientId), 'provider');
      const landing = returnTo ?? ownPage(returnRules.baseUrl(), application);
      const browserLocale = {
        locale: canonicalLocale(locale ?? '') ?? preferredLocale(acceptLanguage),
        timezone: canonicalTimeZone(timezone ?? ''),
      };
      return begin(actor, { application, returnTo: landing, browser, principal: null, browserLocale });
    },

    /** @throws {AppError} as {@link start}, and reauthentication_required */
    async link(actor: Actor, principal: SessionPrincipal, { returnTo }: LinkInput, browser: string): Promise<string> {
      const application = openApplication(await findApplication(db.reader, principal.applicationId), 'provider');
      const landing = returnTo ?? `${returnRules.baseUrl()}/account`;
      return begin(actor, { application, returnTo: landing, browser, principal, browserLocale: NO_BROWSER_LOCALE });
    },

    /**
     * Finishes a flow. A refusal redirects to the return URL; a callback without a flow throws and redirects nowhere.
     *
     * @throws {AppError} invalid_request, invalid_state, provider_failed
     */
    async callback(actor: Actor, comingBack: ComingBack): Promise<Landing> {
      const { query, browser } = comingBack;
      const { state = '', error = '' } = query;
      const flow =
        browser !== null && isSecret('providerState', state)
          ? await db.write(actor, (unit) => consumeState(unit, state, browser))
          : null;
      if (!flow) throw new AppError('invalid_request', { hint: 'provider_flow_unknown' });
      const application = await requireApplication(db.reader, flow.applicationId);
      checkReturn(flow.returnTo, application);
      const provider = await providerOf(db.reader, application, flow);
      const { issuer } = provider;
      const profile = await heard(actor, issuer, application, () => relyingParty.profileOf(provider, query));
      if (profile === null) {
        const isDeclined = error === 'access_denied';
        // The browser controls this text; only what looks like an error code is logged (RFC 6749 §4.1.2.1).
        const reason = /^[a-z_]{1,40}$/.test(error) ? error : 'no code of RFC 6749';
        if (!isDeclined)
          log.warn({ requestId: actor.requestId, issuer, reason }, 'the identity provider refused a sign-in');
        const outcome = { error: isDeclined ? 'access_denied' : 'provider_failed' };
        const location = landingOf(flow.returnTo, outcome, returnRules.baseUrl());
        return { location, session: null, isByHolder: false };
      }
      return finish(actor, flow, profile, comingBack);
    },
  };
}
