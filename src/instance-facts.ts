/** Facts about this instance for its operators, from its configuration and its mail server. */
import type { Dependencies } from './dependencies.ts';
import type { MailServerInUse } from './mail/server-in-use.ts';
import type { InstanceFacts } from './modules/health/facts.ts';
import { VERSION } from './version.ts';

/** Observations from requests about the proxies in front of this server. */
export interface ProxyWatch {
  /** A proxy header that came from an untrusted peer; null if none did. */
  untrustedHeader: string | null;
}

export function instanceFacts(
  { config, clock, certificate, identity = null }: Dependencies,
  inUse: MailServerInUse,
  proxies: ProxyWatch,
): InstanceFacts {
  return {
    identity,
    version: VERSION,
    startedAt: clock.now(),
    mode: config.mode,
    settings: config.shown,
    isBaseUrlSet: config.baseUrl !== null,
    isMailServerFixed: inUse.isFixed,
    async mail() {
      const found = await inUse.describe();
      return found ? { transport: 'smtp', ...found } : { transport: 'outbox', source: null, server: null, from: null };
    },
    certificateExpiresAt: () => certificate?.expiresAt() ?? null,
    untrustedProxyHeader: () => proxies.untrustedHeader,
  };
}
