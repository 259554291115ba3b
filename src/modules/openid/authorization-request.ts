/** Authorization requests (RFC 6749 §4.1.1, RFC 7636, OpenID Connect Core 1.0 §3.1.2.1), as a client sends them. */
import { KEY_DAYS_REMEDY, keyDaysOf } from '../devices/key-days.ts';
import { knownScopes, PASSKEY_ACR } from './claims.ts';

/** Our own parameters in the address of a request that is under way: no part of what the client asks for. */
const OWN_PARAMETERS = ['resume', 'account', 'locale'];
/** Values of the `prompt` parameter (Core 1.0 §3.1.2.1). */
export const PROMPTS = ['none', 'login', 'consent', 'select_account'] as const;
export type Prompt = (typeof PROMPTS)[number];

/** Longest `state` and `nonce`. */
const MAX_TEXT = 1_024;
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f]/;
/** SHA-256 in base64url has 43 characters; RFC 7636 §4.2 allows as many as a verifier may have. */
const CODE_CHALLENGE = /^[\w-]{43,128}$/;
const PASSKEY_CLASSES: readonly string[] = [PASSKEY_ACR, 'phrh'];

export interface AuthorizationRequest {
  readonly state: string | null;
  readonly nonce: string | null;
  readonly codeChallenge: string;
  /** Scopes with a meaning, separated by spaces. */
  readonly scope: string;
  readonly prompts: ReadonlySet<Prompt>;
  /** Longest time since the person proved who they are, in seconds. */
  readonly maxAge: number | null;
  readonly loginHint: string | null;
  readonly idTokenHint: string | null;
  /** Languages that the client asks for, separated by commas. */
  readonly locales: string | null;
  /** Days after which a console client's key ends; 0 for never, null for the client's default. */
  readonly keyDays: number | null;
  /** A phishing-resistant sign-in is wanted. */
  readonly isPasskeyWanted: boolean;
}

export type AuthorizationError =
  | 'invalid_request'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'registration_not_supported'
  | 'unsupported_response_type'
  | 'invalid_target'
  | 'login_required'
  | 'interaction_required'
  | 'access_denied';

export type Parsed =
  | { readonly isOk: true; readonly request: AuthorizationRequest }
  | {
      readonly isOk: false;
      readonly error: AuthorizationError;
      /** For the client's developer, in ASCII. */
      readonly description: string;
      readonly state: string | null;
    };

/** Returns the client's part of a query, in one form: a page writes the query anew when its language changes. */
export function requestIn(query: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...query].filter(([name]) => !OWN_PARAMETERS.includes(name)));
}

/** Parameters with no value count as omitted (RFC 6749 §3.1). Returns null as well for one that is given twice. */
export function onlyValue(query: URLSearchParams, name: string): string | null {
  const [value, ...more] = query.getAll(name);
  return more.length > 0 ? null : value || null;
}

/** Returns the languages that a client asks for, separated by commas as in `Accept-Language`. */
export function localesIn(query: URLSearchParams): string | null {
  return onlyValue(query, 'ui_locales')?.trim().split(/\s+/).join(',') ?? null;
}

/**
 * Parses everything but client and redirect URI, whose mistakes are shown to the person instead of sent on.
 *
 * @param resource the one that the client may ask for (RFC 8707); null for none.
 */
export function parseAuthorization(query: URLSearchParams, resource: string | null): Parsed {
  const given = (name: string) => query.get(name) || null;
  const sentState = onlyValue(query, 'state');
  const state = sentState !== null && sentState.length <= MAX_TEXT ? sentState : null;
  const refused = (error: AuthorizationError, description: string): Parsed => ({
    isOk: false,
    error,
    description,
    state,
  });

  const repeated = [...query.keys()].find((name, index, names) => names.indexOf(name) !== index);
  if (repeated !== undefined) return refused('invalid_request', 'A parameter is given twice; send it once.');
  if (given('response_type') === null) return refused('invalid_request', 'Send response_type=code.');
  if (given('request') !== null) return refused('request_not_supported', 'Send the parameters in the query.');
  if (given('request_uri') !== null) return refused('request_uri_not_supported', 'Send the parameters in the query.');
  if (given('registration') !== null)
    return refused('registration_not_supported', 'Register the client before; see the metadata.');
  if (given('response_type') !== 'code')
    return refused('unsupported_response_type', 'Only response_type=code is supported.');
  if ((given('response_mode') ?? 'query') !== 'query')
    return refused('invalid_request', 'Only response_mode=query is supported.');

  const codeChallenge = given('code_challenge');
  if (codeChallenge === null || !CODE_CHALLENGE.test(codeChallenge))
    return refused('invalid_request', 'PKCE is required: send a code_challenge of 43 to 128 characters of base64url.');
  if (given('code_challenge_method') !== 'S256')
    return refused('invalid_request', 'PKCE is required with code_challenge_method=S256.');

  const wanted = (given('prompt') ?? '').split(' ').filter((prompt) => prompt !== '');
  const prompts = new Set(PROMPTS.filter((prompt) => wanted.includes(prompt)));
  if (wanted.some((prompt) => !PROMPTS.some((known) => known === prompt)))
    return refused('invalid_request', `Only these values of prompt are supported: ${PROMPTS.join(', ')}.`);
  if (prompts.has('none') && prompts.size > 1)
    return refused('invalid_request', 'prompt=none stands alone; send no other value with it.');
  const maxAge = given('max_age');
  if (maxAge !== null && !/^\d{1,10}$/.test(maxAge))
    return refused('invalid_request', 'Send max_age as a whole number of seconds.');
  const nonce = given('nonce');
  if ((sentState?.length ?? 0) > MAX_TEXT || (nonce?.length ?? 0) > MAX_TEXT)
    return refused('invalid_request', `Send at most ${MAX_TEXT} characters of state and nonce.`);
  if (nonce !== null && CONTROL_CHARACTER.test(nonce))
    return refused('invalid_request', 'Send a nonce without control characters.');
  const keyDays = keyDaysOf(given('key_days'));
  if (keyDays === undefined) return refused('invalid_request', KEY_DAYS_REMEDY);
  const target = given('resource');
  if (target !== null && target !== resource)
    return refused(
      'invalid_target',
      resource === null ? 'This client has no resource.' : `The only resource is ${resource}.`,
    );

  return {
    isOk: true,
    request: {
      state,
      nonce,
      codeChallenge,
      scope: knownScopes(given('scope') ?? '').join(' '),
      prompts,
      maxAge: maxAge === null ? null : Number(maxAge),
      loginHint: given('login_hint'),
      idTokenHint: given('id_token_hint'),
      locales: localesIn(query),
      keyDays,
      isPasskeyWanted: (given('acr_values') ?? '').split(' ').some((value) => PASSKEY_CLASSES.includes(value)),
    },
  };
}
