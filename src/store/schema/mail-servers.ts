/** The mail server of the instance, where it is set in the console. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** When a connection is encrypted: from its first byte, by a required STARTTLS, or only if the server offers it. */
export const MAIL_TLS = ['implicit', 'starttls', 'optional'] as const;

/** Has at most one row. */
export const mailServers = sqliteTable('mail_servers', {
  id: text({ enum: ['instance'] }).primaryKey(),
  host: text().notNull(),
  port: integer().notNull(),
  tls: text({ enum: MAIL_TLS }).notNull(),
  /** Null without a login, as is the password. */
  username: text(),
  sealedPassword: text('sealed_password'),
  /** From header, such as `Acme <no-reply@acme.example>`. */
  sender: text().notNull(),
  setAt: integer('set_at').notNull(),
});
