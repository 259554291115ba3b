/** Renews the certificate in use from its files, and warns before it expires. */
import type { Logger } from 'pino';
import { type Clock, DAY, isoTime } from '../core/clock.ts';
import { type Certificate, certificateWarnings, EXPIRY_WARNING_MS, readCertificate } from './certificate.ts';

export interface CertificateWatchOptions {
  readonly first: Certificate;
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly use: (certificate: Certificate) => void;
}

export interface CertificateWatch {
  /** In epoch milliseconds. */
  expiresAt(): number;
  /** Reads the files again. Never throws: an unusable certificate is logged, and the current one stays. */
  renew(): void;
  /** Logs when the certificate expires, if that is soon. */
  look(): void;
}

export function certificateWatch({ first, baseUrl, clock, log, use }: CertificateWatchOptions): CertificateWatch {
  let current = first;

  function tellTroubles(): void {
    for (const warning of certificateWarnings(current, baseUrl)) log.warn(warning);
  }

  function look(): void {
    const left = current.expiresAt - clock.now();
    if (left > EXPIRY_WARNING_MS) return;
    const days = Math.max(0, Math.floor(left / DAY));
    const when = left <= 0 ? 'has expired' : `expires in ${days} ${days === 1 ? 'day' : 'days'}`;
    log[left <= 0 ? 'error' : 'warn'](
      { expiresAt: isoTime(current.expiresAt), file: first.files.certFile },
      `the certificate ${when}: renew it, then send this process SIGHUP`,
    );
  }

  tellTroubles();
  look();
  return {
    expiresAt: () => current.expiresAt,
    look,
    renew() {
      try {
        const renewed = readCertificate(first.files, clock.now());
        use(renewed);
        current = renewed;
      } catch (error) {
        log.error(
          { expiresAt: isoTime(current.expiresAt) },
          `the certificate was not renewed, the one in use stays: ${(error as Error).message}`,
        );
        return;
      }
      log.info(
        { expiresAt: isoTime(current.expiresAt), names: current.names },
        'new connections get the renewed certificate',
      );
      tellTroubles();
      look();
    },
  };
}
