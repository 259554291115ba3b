/** Facts about this instance for its operators, from its configuration and its mail transport. */
import type { Dependencies } from './dependencies.ts';
import type { InstanceFacts } from './modules/health/facts.ts';
import { VERSION } from './version.ts';

/** Observations from requests about the proxies in front of this server. */
export interface ProxyWatch {
  /** A proxy header that came from an untrusted peer; null if none did. */
  untrustedHeader: string | null;
}

export function instanceFacts(
  { config, mail, clock, certificate, identity = null }: Dependencies,
  proxies: ProxyWatch,
): InstanceFacts {
  const isOutbox = 'onCapture' in mail;
  return {
    identity,
    version: VERSION,
    startedAt: clock.now(),
    mode: config.mode,
    settings: config.shown,
    isBaseUrlSet: config.baseUrl !== null,
    mail: {
      transport: isOutbox ? 'outbox' : 'smtp',
      server: isOutbox ? null : (mail.server ?? null),
      from: isOutbox ? null : (mail.from ?? null),
    },
    certificateExpiresAt: () => certificate?.expiresAt() ?? null,
    untrustedProxyHeader: () => proxies.untrustedHeader,
  };
}
