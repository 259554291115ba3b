/** A sign-in that the console tries out as the application's OpenID client: its request, and what came back. */
import type { Schemas } from '../../api.ts';

/** Request that the answer is compared with. Stays in the tab that began. */
export interface OpenIdTrial {
  readonly applicationId: string;
  readonly clientId: string;
  readonly isPublic: boolean;
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly redirectUri: string;
  readonly state: string;
  /** The PKCE verifier (RFC 7636). */
  readonly verifier: string;
}

export type TrialAnswer =
  /** Belongs to no trial of this tab. Nothing of it is shown: anybody can write such an address. */
  | { readonly kind: 'stranger' }
  | { readonly kind: 'refused'; readonly trial: OpenIdTrial; readonly error: string; readonly description: string }
  | { readonly kind: 'arrived'; readonly trial: OpenIdTrial; readonly code: string; readonly command: string };

const STORED = 'gatehouse.console.openid-trial';
const SCOPE = 'openid profile email';
const RANDOM_BYTES = 32;

/** The page of the console that shows the answer; the server accepts it as redirect URI of every application. */
export const TRIAL_PATH = '/openid-try';

export function trialRedirectUri(issuer: string): string {
  return `${issuer}/console${TRIAL_PATH}`;
}

/** Stores a new trial in this tab. @returns the authorization request's URL; null where the browser cannot hash. */
export async function beginTrial(applicationId: string, settings: Schemas['OpenIdSettings']): Promise<string | null> {
  // Browsers have it on https and on localhost alone.
  if (!isSecureContext) return null;
  const { issuer, clientId, clientType, endpoints } = settings;
  const trial: OpenIdTrial = {
    applicationId,
    clientId,
    isPublic: clientType === 'public',
    issuer,
    tokenEndpoint: endpoints.token,
    redirectUri: trialRedirectUri(issuer),
    state: randomText(),
    verifier: randomText(),
  };
  sessionStorage.setItem(STORED, JSON.stringify(trial));
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: trial.redirectUri,
    scope: SCOPE,
    state: trial.state,
    nonce: randomText(),
    code_challenge: await challengeOf(trial.verifier),
    code_challenge_method: 'S256',
  });
  return `${endpoints.authorization}?${query}`;
}

/** Returns the trial that this tab began last. */
export function storedTrial(): OpenIdTrial | null {
  const text = sessionStorage.getItem(STORED);
  return text === null ? null : (JSON.parse(text) as OpenIdTrial);
}

/** Compares an answer with the trial (RFC 6749 §10.12, RFC 9207). @param query of the address with the answer. */
export function trialAnswer(query: URLSearchParams, trial: OpenIdTrial | null): TrialAnswer {
  if (!trial || query.get('state') !== trial.state || query.get('iss') !== trial.issuer) return { kind: 'stranger' };
  const error = query.get('error');
  if (error !== null) return { kind: 'refused', trial, error, description: query.get('error_description') ?? '' };
  const code = query.get('code') ?? '';
  // It is put between quotes of a shell.
  if (!/^\w+$/.test(code)) return { kind: 'stranger' };
  return { kind: 'arrived', trial, code, command: exchangeCommand(trial, code) };
}

function exchangeCommand(trial: OpenIdTrial, code: string): string {
  const { clientId, isPublic, tokenEndpoint, redirectUri, verifier } = trial;
  return `curl ${tokenEndpoint} \\
  ${isPublic ? `-d client_id=${clientId}` : `-u '${clientId}:ecs_…'`} \\
  -d grant_type=authorization_code \\
  -d code=${code} \\
  -d redirect_uri=${redirectUri} \\
  -d code_verifier=${verifier}`;
}

function randomText(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)));
}

async function challengeOf(verifier: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}
