/** Facts about an instance that are known from its start, for those who run it. */
import type { InstanceIdentity } from '../../core/doctor-pass.ts';
import type { MailServerFacts } from '../../mail/server-in-use.ts';

export interface SettingFact {
  readonly name: string;
  /** Masked if secret. */
  readonly value: string | null;
  readonly isDefault: boolean;
  readonly meaning: string;
}

export const MODES = ['normal', 'dev', 'ephemeral'] as const;
export const MAIL_TRANSPORTS = ['smtp', 'outbox'] as const;

export interface MailFacts {
  readonly transport: (typeof MAIL_TRANSPORTS)[number];
  /** Where the mail server was set; null without one. */
  readonly source: MailServerFacts['source'] | null;
  /** Host and port; null without a mail server. */
  readonly server: string | null;
  readonly from: string | null;
}

export interface InstanceFacts {
  /** Null if no command may recognize it. */
  readonly identity: InstanceIdentity | null;
  readonly version: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly mode: (typeof MODES)[number];
  readonly settings: readonly SettingFact[];
  readonly isBaseUrlSet: boolean;
  /** True if the environment sets the mail server, so that the console cannot. */
  readonly isMailServerFixed: boolean;
  /** Returns the mail server in use now. */
  mail(): Promise<MailFacts>;
  /** Returns when the TLS certificate expires, in epoch milliseconds; null if this server does not terminate TLS. */
  certificateExpiresAt(): number | null;
  /** Returns a proxy header received from an untrusted peer; null if there was none. */
  untrustedProxyHeader(): string | null;
}
