/** What providers publish of themselves: discovery documents and signing keys, asked for once and kept for a while. */
import type { BlockList } from 'node:net';
import type { JSONWebKeySet } from 'jose';
import { type Clock, HOUR, MINUTE, SECOND } from '../../core/clock.ts';
import { type GuardedFetch, targetProblem } from '../../outbound/guarded-fetch.ts';
import { askProvider, type JsonObject } from './endpoint.ts';
import { ProviderFault } from './fault.ts';
import { GOOGLE_ISSUER } from './issuer.ts';

const METADATA_MS = HOUR;
const KEYS_MS = 10 * MINUTE;
/** How soon an unknown key id makes us ask again, so that nobody can make us ask at will. */
const KEYS_AGAIN_MS = 30 * SECOND;
const MAX_ENTRIES = 1000;

/** The part of a discovery document that is used (OpenID Connect Discovery 1.0 §3, RFC 9207 §3). */
export interface ProviderMetadata {
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly jwksUri: string;
  /** Where the claims are that the id_token leaves out; null where there is no such place. */
  readonly userinfoEndpoint: string | null;
  /** Whether it can be asked to let people choose among their accounts there. */
  readonly hasAccountChoice: boolean;
  /** The client secret goes into the form instead of the Authorization header. */
  readonly isSecretPosted: boolean;
  /** Each answer names its issuer, and one that does not is refused. */
  readonly isIssuerAnswered: boolean;
}

export interface DirectoryDependencies {
  readonly clock: Clock;
  readonly outbound: GuardedFetch;
  readonly isLoopbackAllowed: boolean;
  readonly allowedCidrs: BlockList;
}

export type Directory = ReturnType<typeof providerDirectory>;

export function providerDirectory({ clock, outbound, isLoopbackAllowed, allowedCidrs }: DirectoryDependencies) {
  const metadata = cache<ProviderMetadata>(clock);
  const keySets = cache<JSONWebKeySet>(clock);

  async function discover(issuer: string): Promise<ProviderMetadata> {
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const document = await askProvider(outbound, 'discovery', { url, method: 'GET' });
    if (document['issuer'] !== issuer) throw new ProviderFault('discovery: the document names another issuer');
    const methods = document['token_endpoint_auth_methods_supported'];
    return {
      issuer,
      authorizationEndpoint: endpoint(document, 'authorization_endpoint'),
      tokenEndpoint: endpoint(document, 'token_endpoint'),
      jwksUri: endpoint(document, 'jwks_uri'),
      userinfoEndpoint: document['userinfo_endpoint'] === undefined ? null : endpoint(document, 'userinfo_endpoint'),
      // Google does not publish what it takes; others refuse what they do not know.
      hasAccountChoice: issuer === GOOGLE_ISSUER || lists(document['prompt_values_supported'], 'select_account'),
      isSecretPosted: lists(methods, 'client_secret_post') && !lists(methods, 'client_secret_basic'),
      isIssuerAnswered: document['authorization_response_iss_parameter_supported'] === true,
    };
  }

  function endpoint(document: JsonObject, name: string): string {
    const url = document[name];
    const isUsable =
      typeof url === 'string' &&
      !url.includes('#') &&
      targetProblem(url, { allowed: allowedCidrs, isLoopbackAllowed }) === null;
    if (!isUsable) throw new ProviderFault(`discovery: ${name} is not an address that can be used`);
    return url;
  }

  async function fetchKeys({ jwksUri }: ProviderMetadata): Promise<JSONWebKeySet> {
    const { keys } = await askProvider(outbound, 'keys', { url: jwksUri, method: 'GET' });
    if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'object' && key !== null))
      throw new ProviderFault('keys: the answer is not a JSON Web Key Set');
    return { keys };
  }

  function keysOf(provider: ProviderMetadata, maxAgeMs: number): Promise<JSONWebKeySet> {
    return keySets.get(`${provider.issuer} ${provider.jwksUri}`, maxAgeMs, () => fetchKeys(provider));
  }

  return {
    /** @throws {ProviderFault} */
    metadata: (issuer: string): Promise<ProviderMetadata> => metadata.get(issuer, METADATA_MS, () => discover(issuer)),

    /** The keys that the provider signs with. @throws {ProviderFault} */
    keys: (provider: ProviderMetadata): Promise<JSONWebKeySet> => keysOf(provider, KEYS_MS),

    /** The same where the known ones lack a key; asked for again unless they are very new. @throws {ProviderFault} */
    newKeys: (provider: ProviderMetadata): Promise<JSONWebKeySet> => keysOf(provider, KEYS_AGAIN_MS),
  };
}

function lists(values: unknown, value: string): boolean {
  return Array.isArray(values) && values.includes(value);
}

interface Entry<Value> {
  readonly value: Promise<Value>;
  readonly since: number;
}

/** Values that are asked for once, however many wait for them; a failure is not kept. */
function cache<Value>(clock: Clock) {
  const entries = new Map<string, Entry<Value>>();
  return {
    get(key: string, maxAgeMs: number, fetchValue: () => Promise<Value>): Promise<Value> {
      const known = entries.get(key);
      if (known && clock.now() - known.since < maxAgeMs) return known.value;
      const entry = { value: fetchValue(), since: clock.now() };
      entries.delete(key);
      entries.set(key, entry);
      if (entries.size > MAX_ENTRIES) entries.delete(entries.keys().next().value!);
      entry.value.catch(() => {
        if (entries.get(key) === entry) entries.delete(key);
      });
      return entry.value;
    },
  };
}
