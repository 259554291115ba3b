/** Chooses how an instance sends mail: by the environment's server, or by the one that the console sets. */
import type { Logger } from 'pino';
import type { WorldClock } from '../core/clock.ts';
import type { InstanceKey } from '../core/instance-key.ts';
import type { Database } from '../db/database.ts';
import { findMailServer } from '../store/mail-servers.ts';
import type { MailLeases } from './leases.ts';
import { type Outbox, outboxQueue } from './outbox.ts';
import { type MailQueue, mailQueue } from './queue.ts';
import { fixedMailServer, type MailServerInUse } from './server-in-use.ts';
import { currentTransport, storedMailServer } from './stored-server.ts';
import { switchingQueue } from './switching-queue.ts';
import type { MailTransport } from './transport.ts';

export interface MailDependencies {
  readonly db: Database;
  readonly clock: WorldClock;
  readonly instanceKey: InstanceKey;
  readonly leaseHolder: string;
  readonly log: Logger;
  /** The environment's mail server; an outbox without one. */
  readonly mail: MailTransport | Outbox;
}

export interface InstanceMailing extends Pick<Outbox, 'onCapture'> {
  readonly inUse: MailServerInUse;
  readonly queue: MailQueue;
}

export function mailOf(dependencies: MailDependencies, leases: MailLeases): InstanceMailing {
  const { db, log, mail } = dependencies;
  const sending = (transport: MailTransport) => mailQueue({ ...dependencies, transport, leases });
  if (!('onCapture' in mail)) return { inUse: fixedMailServer(mail), onCapture: null, queue: sending(mail) };
  const { onCapture, isOnly = false } = mail;
  if (isOnly) {
    const queue = outboxQueue({ db, log, onCapture, hasServer: async () => false });
    return { inUse: fixedMailServer(null), onCapture, queue };
  }
  const inUse = storedMailServer(dependencies);
  const hasServer = async (unit: Parameters<typeof findMailServer>[0]) => (await findMailServer(unit)) !== undefined;
  const outbox = outboxQueue({ db, log, onCapture, hasServer });
  return { inUse, onCapture, queue: switchingQueue({ inUse, outbox, sender: sending(currentTransport(inUse)) }) };
}
