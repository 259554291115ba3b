/** What is known of an instance from its start on, for the view that those who run it have of it. */

/** A setting in text. */
export interface SettingFact {
  /** The environment variable. */
  readonly name: string;
  /** Of a secret only that there is one. */
  readonly value: string | null;
  readonly isDefault: boolean;
  readonly meaning: string;
}

export const MODES = ['normal', 'dev', 'ephemeral'] as const;
export const MAIL_TRANSPORTS = ['smtp', 'outbox'] as const;

/** By what a server and the commands of its own machine know each other; new at each start. */
export interface InstanceIdentity {
  readonly instanceId: string;
  readonly pass: string;
}

export interface InstanceFacts {
  /** Null where no command is to know it. */
  readonly identity: InstanceIdentity | null;
  readonly version: string;
  /** In epoch milliseconds. */
  readonly startedAt: number;
  readonly mode: (typeof MODES)[number];
  readonly settings: readonly SettingFact[];
  readonly isBaseUrlSet: boolean;
  readonly mail: {
    readonly transport: (typeof MAIL_TRANSPORTS)[number];
    /** Host and port; null where there is none. */
    readonly server: string | null;
    readonly from: string | null;
  };
  /** When the certificate that https is spoken with ends, in epoch milliseconds; null where this server speaks none. */
  certificateExpiresAt(): number | null;
  /** A header of proxies that came from a peer that is not trusted; null where none did. */
  untrustedProxyHeader(): string | null;
}
