/** What this instance says of itself to those who run it, from its configuration and from what stands for its mail. */
import type { Dependencies } from './dependencies.ts';
import type { InstanceFacts } from './modules/health/facts.ts';
import { VERSION } from './version.ts';

/** What requests have shown of the proxies before this server. */
export interface ProxyWatch {
  /** A header of proxies that came from a peer that is not trusted; null where none did. */
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
