/** Access rules of operations in the OpenAPI description: texts and security schemes. */
import { SECRET_PREFIXES } from '../../core/secret.ts';
import type { AccessRule } from '../../http/operation.ts';
import { sessionCookieName } from '../../http/session-cookie.ts';

/** The terms are explained in `ACCESS_EXPLAINED`. */
export const ACCESS_SENTENCES: Record<AccessRule, string> = {
  none: 'Needs no authentication.',
  session: 'Needs a session.',
  person: 'Needs a session or a personal key.',
  token: 'Needs the session token.',
  holder: 'Needs the session token, or an API key.',
  key: 'Needs an API key.',
  client: 'Needs the client secret of an application, in the header or in the body, or an API key.',
  client_full: 'Needs the client secret of an application, in the header or in the body, or a Full API key.',
  agent: 'Needs an API key, or a personal key of the console.',
  read: 'Read.',
  full: 'Admin.',
};

export const ACCESS_EXPLAINED = [
  '**Read** operations need an API key, Read or Full, or a console session.',
  '**Admin** operations need a Full API key, or a console session of an owner or admin.',
  'Where a session is needed, it is that of the signed-in person; an API key is refused.',
].join(' ');

type Requirement = Record<string, string[]>[];

/** Default security of the document; other operations declare their own. */
export const USUAL_SECURITY: Requirement = [{ apiKey: [] }, { sessionToken: [] }, { sessionCookie: [] }];

/** A secret in the request body has no security scheme; it is a property of the body. */
const OF_CLIENTS: Requirement = [{ clientSecret: [] }, { apiKey: [] }];

export const SECURITY: Record<AccessRule, Requirement> = {
  none: [],
  session: [{ sessionToken: [] }, { sessionCookie: [] }],
  person: [{ sessionToken: [] }, { sessionCookie: [] }, { apiKey: [] }],
  token: [{ sessionToken: [] }],
  holder: [{ sessionToken: [] }, { apiKey: [] }],
  key: [{ apiKey: [] }],
  client: OF_CLIENTS,
  client_full: OF_CLIENTS,
  agent: [{ apiKey: [] }],
  read: USUAL_SECURITY,
  full: USUAL_SECURITY,
};

export function securitySchemes(baseUrl: string): Record<string, object> {
  return {
    apiKey: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: `${SECRET_PREFIXES.apiKey}_…`,
      description: `An API key of an application or of the workspace, \`${SECRET_PREFIXES.apiKey}_…\`.`,
    },
    sessionToken: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: `${SECRET_PREFIXES.session}_…`,
      description: `The session token of a person, \`${SECRET_PREFIXES.session}_…\`; where keys are taken, that of a console member.`,
    },
    clientSecret: {
      type: 'http',
      scheme: 'basic',
      description: `The \`clientId\` of an application and its client secret, \`${SECRET_PREFIXES.clientSecret}_…\` (RFC 6749 §2.3.1).`,
    },
    sessionCookie: {
      type: 'apiKey',
      in: 'cookie',
      name: sessionCookieName(baseUrl),
      description: 'The session token as a cookie, accepted from pages of this server only.',
    },
  };
}
