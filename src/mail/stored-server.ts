/**
 * The mail server that is set in the console. It is read from the database for every mail, so that a change takes effect
 * at once on every instance.
 */
import type { InstanceKey } from '../core/instance-key.ts';
import type { Database } from '../db/database.ts';
import { findMailServer, type StoredMailServer } from '../store/mail-servers.ts';
import type { MailServerInUse } from './server-in-use.ts';
import { serverAddress, smtpUrlOf } from './server-url.ts';
import { SMTP_CONCURRENCY, smtpTransport } from './smtp.ts';
import { MailError, type MailTransport } from './transport.ts';

export interface StoredMailServerDependencies {
  readonly db: Pick<Database, 'reader'>;
  readonly instanceKey: Pick<InstanceKey, 'unseal'>;
}

/** Mail server that is set in the console. */
export function storedMailServer({ db, instanceKey }: StoredMailServerDependencies): MailServerInUse {
  let open: { readonly version: string; readonly transport: MailTransport } | null = null;

  async function transportOf(row: StoredMailServer): Promise<MailTransport> {
    const password = row.sealedPassword === null ? null : await unsealed(row.sealedPassword);
    return smtpTransport({ url: smtpUrlOf({ ...row, password }), from: row.sender });
  }

  async function unsealed(sealed: string): Promise<string> {
    try {
      return await instanceKey.unseal('mail server', sealed);
    } catch (cause) {
      throw new MailError('the mail server’s password cannot be decrypted; set the mail server again', false, {
        cause,
      });
    }
  }

  function close(): void {
    open?.transport.close();
    open = null;
  }

  return {
    isFixed: false,
    async describe() {
      const row = await findMailServer(db.reader);
      return row ? { source: 'console', server: serverAddress(row), from: row.sender } : null;
    },
    async find() {
      const row = await findMailServer(db.reader);
      if (!row) {
        close();
        return null;
      }
      const version = JSON.stringify(row);
      if (open?.version === version) return open.transport;
      const transport = await transportOf(row);
      // Mails under way end on their own connections.
      close();
      open = { version, transport };
      return transport;
    },
    close,
  };
}

/** Transport that sends each mail by the server then in use. */
export function currentTransport(inUse: MailServerInUse): MailTransport {
  return {
    ...SMTP_CONCURRENCY,
    async send(mail) {
      const transport = await inUse.find();
      if (transport === null) throw new MailError('no mail server is set', false);
      return transport.send(mail);
    },
    close: inUse.close,
  };
}
