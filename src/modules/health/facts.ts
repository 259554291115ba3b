/** Facts about an instance that are known from its start, for those who run it. */
import type { InstanceIdentity } from '../../core/doctor-pass.ts';

export interface SettingFact {
  readonly name: string;
  /** Masked if secret. */
  readonly value: string | null;
  readonly isDefault: boolean;
  readonly meaning: string;
}

export const MODES = ['normal', 'dev', 'ephemeral'] as const;
export const MAIL_TRANSPORTS = ['smtp', 'outbox'] as const;

export interface InstanceFacts {
  /** Null if no command may recognize it. */
  readonly identity: InstanceIdentity | null;
  readonly version: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly mode: (typeof MODES)[number];
  readonly settings: readonly SettingFact[];
  readonly isBaseUrlSet: boolean;
  readonly mail: {
    readonly transport: (typeof MAIL_TRANSPORTS)[number];
    /** Host and port; null without a mail server. */
    readonly server: string | null;
    readonly from: string | null;
  };
  /** Returns when the TLS certificate expires, in epoch milliseconds; null if this server does not terminate TLS. */
  certificateExpiresAt(): number | null;
  /** Returns a proxy header received from an untrusted peer; null if there was none. */
  untrustedProxyHeader(): string | null;
}
