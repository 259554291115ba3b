/** The mail server in use: the environment's, else the one set in the console (`stored-server.ts`). */
import type { MailTransport } from './transport.ts';

export const MAIL_SOURCES = ['environment', 'console'] as const;

export interface MailServerFacts {
  readonly source: (typeof MAIL_SOURCES)[number];
  /** Host and port. */
  readonly server: string | null;
  readonly from: string | null;
}

export interface MailServerInUse {
  /** True if the console cannot change it. */
  readonly isFixed: boolean;
  /** Returns the server without its credentials; null while mail stays in the outbox. */
  describe(): Promise<MailServerFacts | null>;
  /** Returns the transport for the next mail; null while mail stays in the outbox. @throws {MailError} */
  find(): Promise<MailTransport | null>;
  close(): void;
}

/** Mail server that does not change while the instance runs; null keeps all mail in the outbox. */
export function fixedMailServer(transport: MailTransport | null): MailServerInUse {
  const { server = null, from = null } = transport ?? {};
  return {
    isFixed: true,
    describe: async () => transport && { source: 'environment', server, from },
    find: async () => transport,
    close: () => transport?.close(),
  };
}
