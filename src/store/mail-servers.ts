/** The mail server of the instance, where it is set in the console. */
import { change, query } from '../db/statements.ts';
import type { mailServers } from './schema/mail-servers.ts';

export { MAIL_TLS } from './schema/mail-servers.ts';

export type StoredMailServer = Omit<typeof mailServers.$inferSelect, 'id'>;

export const findMailServer = query.row<StoredMailServer>(
  `SELECT host, port, tls, username, sealed_password AS "sealedPassword", sender, set_at AS "setAt" FROM mail_servers`,
);

/** Sets the mail server, or replaces it as a whole. */
export const setMailServer = change<Omit<StoredMailServer, 'setAt'>>(
  `INSERT INTO mail_servers (id, host, port, tls, username, sealed_password, sender, set_at)
   VALUES ('instance', :host, :port, :tls, :username, :sealedPassword, :sender, :now)
   ON CONFLICT (id) DO UPDATE SET host = excluded.host, port = excluded.port, tls = excluded.tls,
     username = excluded.username, sealed_password = excluded.sealed_password, sender = excluded.sender,
     set_at = excluded.set_at`,
);

/** @returns 0 if none was set. */
export const deleteMailServer = change('DELETE FROM mail_servers');
