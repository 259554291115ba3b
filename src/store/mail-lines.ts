/** Lines that applications add to their mails, one for each kind of mail and language. */
import type { Locale } from '../core/locale.ts';
import type { MailKind } from '../core/mail-kinds.ts';
import { change, query } from '../db/statements.ts';

export interface MailLineKey {
  readonly applicationId: string;
  readonly mail: MailKind;
  readonly locale: Locale;
}

export interface MailLine {
  readonly mail: MailKind;
  readonly locale: Locale;
  readonly line: string;
}

export const findMailLine = query.value<string, MailLineKey>(
  'SELECT line FROM mail_lines WHERE application_id = :applicationId AND mail = :mail AND locale = :locale',
);

/** Returns an application's lines by mail and language: at most one for each. */
export const listMailLines = query.rows<MailLine, string>(
  'SELECT mail, locale, line FROM mail_lines WHERE application_id = :id ORDER BY mail, locale',
);

export const saveMailLine = change<MailLineKey & { line: string }>(
  `INSERT INTO mail_lines (application_id, mail, locale, line, updated_at)
   VALUES (:applicationId, :mail, :locale, :line, :now)
   ON CONFLICT (application_id, mail, locale) DO UPDATE SET line = excluded.line, updated_at = excluded.updated_at`,
);

export const deleteMailLine = change<MailLineKey>(
  'DELETE FROM mail_lines WHERE application_id = :applicationId AND mail = :mail AND locale = :locale',
);
