/** The OpenID provider: signs people in to other programs by OAuth 2.0 and OpenID Connect. */
import type { NoteRefusal } from '../../http/limits.ts';
import type { Continuation } from '../continuation/service.ts';
import type { DeviceAuthorization } from '../devices/authorization.ts';
import type { PersonalKeys } from '../devices/personal-keys.ts';
import type { Module, ModuleContext } from '../module.ts';
import type { BrowserSessions } from '../page-sessions/browser-sessions.ts';
import type { Sessions } from '../sessions/service.ts';
import type { Verification } from '../verification/service.ts';
import { tokenAnswers } from './answer.ts';
import { type Authorization, authorizationService } from './authorization.ts';
import { backchannelLogout } from './backchannel.ts';
import { clientAuthentication } from './client-authentication.ts';
import { clientSessionEndings } from './client-session-endings.ts';
import { type OAuthClients, openIdClients } from './clients.ts';
import { type Consents, consentService } from './consent.ts';
import type { ConsoleSessions } from '../page-sessions/console-sessions.ts';
import { type EndSession, endSessionService } from './end-session.ts';
import { codeExchange } from './exchange.ts';
import type { OpenIdTokens } from './id-token.ts';
import { rotationJob, type SigningKeys } from './keys.ts';
import { metadataRoutes } from './metadata-routes.ts';
import { openIdManagementRoutes } from './management-routes.ts';
import { tokenRefresh } from './refresh.ts';
import { clientRegistration } from './registration.ts';
import { authorizationRequests } from './requests.ts';
import { openIdRoutes } from './routes.ts';
import { sessionLimit } from './session-limit.ts';
import { openIdSettings, type OpenIdSettingsService } from './settings.ts';
import { tokenEndpoint } from './token.ts';
import { userInfoService } from './userinfo.ts';

export interface OpenIdStandsOn {
  readonly keys: SigningKeys;
  readonly tokens: OpenIdTokens;
  readonly sessions: Sessions;
  readonly verification: Verification;
  readonly personalKeys: PersonalKeys;
  readonly deviceAuthorization: DeviceAuthorization;
  readonly noteRefusal: NoteRefusal;
  readonly browser: BrowserSessions;
  readonly consoleSessions: ConsoleSessions;
  readonly continuation: Continuation;
}

export interface OpenIdModule extends Module {
  readonly clients: OAuthClients;
  readonly settings: OpenIdSettingsService;
  /** For the pages. */
  readonly authorization: Authorization;
  readonly consents: Consents;
  readonly endSession: EndSession;
}

export function openidModule(context: ModuleContext, standsOn: OpenIdStandsOn): OpenIdModule {
  const { keys, tokens, sessions, verification, personalKeys, deviceAuthorization, noteRefusal } = standsOn;
  const { browser, consoleSessions, continuation } = standsOn;
  const { isOpenIdRegistrationOn: isRegistrationOn } = context;
  const clients = openIdClients(context);
  const settings = openIdSettings({ ...context, backchannel: backchannelLogout(context) });
  const countCall = sessionLimit({ ...context, noteRefusal });
  const answer = tokenAnswers({ ...context, verification, tokens });
  const token = tokenEndpoint({
    authenticate: clientAuthentication({ ...context, clients }),
    exchange: codeExchange({ ...context, sessions, personalKeys, answer }),
    refresh: tokenRefresh({ ...context, answer, countCall }),
    deviceAuthorization,
  });
  const requests = authorizationRequests({ ...context, clients });
  const consents = consentService({ ...context, requests, consoleSessions, personalKeys });
  return {
    clients,
    settings,
    authorization: authorizationService({
      ...context,
      requests,
      consents,
      keys,
      browser,
      continuation,
      consoleSessions,
      countCall,
    }),
    consents,
    endSession: endSessionService({ ...context, requests, keys, browser, sessions }),
    operations: [
      ...openIdRoutes({
        token,
        userInfo: userInfoService({ ...context, verification, countCall }),
        register: clientRegistration({ db: context.db, isRegistrationOn }),
      }),
      ...metadataRoutes({ keys, baseUrl: context.baseUrl, isRegistrationOn }),
      ...openIdManagementRoutes(settings),
    ],
    jobs: [rotationJob(keys)],
    tasks: [clientSessionEndings],
  };
}
