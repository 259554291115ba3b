/** Fetches and caches what providers publish: discovery documents and signing keys. */
import type { BlockList } from 'node:net';
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import * as oauth from 'oauth4webapi';
import { type Clock, HOUR, MINUTE, SECOND } from '../../core/clock.ts';
import { type GuardedFetch, targetProblem } from '../../outbound/guarded-fetch.ts';
import { asFault, ProviderFault, throughGuard } from './protocol.ts';

const METADATA_MS = HOUR;
const KEYS_MS = 10 * MINUTE;
/** Minimum age before an unknown key id refetches the keys, so that nobody can trigger requests at will. */
const KEYS_AGAIN_MS = 30 * SECOND;
const MAX_ENTRIES = 1000;

/** A provider's discovery document; every URL used from it has been validated. */
interface PublishedProvider {
  readonly server: oauth.AuthorizationServer & { readonly authorization_endpoint: string };
  /** The provider's signing keys; a lookup throws the errors of jose and of the guarded fetch. */
  readonly keys: JWTVerifyGetKey;
}

export interface DirectoryDependencies {
  readonly clock: Clock;
  readonly outbound: GuardedFetch;
  readonly isLoopbackAllowed: boolean;
  readonly allowedCidrs: BlockList;
}

/** @returns a function that returns an issuer's published data, and throws {@link ProviderFault}. */
export function providerDirectory({ clock, outbound, isLoopbackAllowed, allowedCidrs }: DirectoryDependencies) {
  const entries = new Map<string, { readonly provider: Promise<PublishedProvider>; readonly since: number }>();
  const options = throughGuard(outbound);

  async function discover(issuer: string): Promise<PublishedProvider> {
    const document = await asFault('discovery', async () => {
      const url = new URL(issuer);
      return oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, options));
    });
    // The library compares parsed URLs, but issuers must match as strings (OpenID Connect Discovery 1.0 §4.3).
    if (document.issuer !== issuer) throw new ProviderFault('discovery: the document names another issuer');
    const usable = (name: string): string => {
      const url = document[name];
      const isUsable =
        typeof url === 'string' &&
        !url.includes('#') &&
        targetProblem(url, { allowed: allowedCidrs, isLoopbackAllowed }) === null;
      if (!isUsable) throw new ProviderFault(`discovery: ${name} is not an address that can be used`);
      return url;
    };
    usable('token_endpoint');
    if ('userinfo_endpoint' in document) usable('userinfo_endpoint');
    return {
      server: { ...document, authorization_endpoint: usable('authorization_endpoint') },
      keys: keySet(new URL(usable('jwks_uri'))),
    };
  }

  /** Replaces expired sets by this server's clock. jose fetches a set at its first use, once for concurrent callers. */
  function keySet(url: URL): JWTVerifyGetKey {
    const endless = { [customFetch]: options[oauth.customFetch], cacheMaxAge: Infinity, cooldownDuration: Infinity };
    let known = { keys: createRemoteJWKSet(url, endless), since: clock.now() };
    const ofAge = (maxAgeMs: number): JWTVerifyGetKey => {
      const now = clock.now();
      if (now - known.since >= maxAgeMs) known = { keys: createRemoteJWKSet(url, endless), since: now };
      return known.keys;
    };
    return async (header, token) => {
      try {
        return await ofAge(KEYS_MS)(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        return ofAge(KEYS_AGAIN_MS)(header, token);
      }
    };
  }

  return (issuer: string): Promise<PublishedProvider> => {
    const known = entries.get(issuer);
    if (known && clock.now() - known.since < METADATA_MS) return known.provider;
    const entry = { provider: discover(issuer), since: clock.now() };
    entries.delete(issuer);
    entries.set(issuer, entry);
    const [oldest] = entries.keys();
    if (oldest !== undefined && entries.size > MAX_ENTRIES) entries.delete(oldest);
    // Failures are not cached.
    entry.provider.catch(() => {
      if (entries.get(issuer) === entry) entries.delete(issuer);
    });
    return entry.provider;
  };
}
