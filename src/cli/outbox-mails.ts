/** Reads mails directly from the database, with or without a running server. */
import type { Config } from '../config.ts';
import { SYSTEM_ACTOR } from '../core/actor.ts';
import { isoTime } from '../core/clock.ts';
import { StartupError } from '../core/startup-error.ts';
import type { Reader } from '../db/database.ts';
import { requireNoRestore } from '../db/sqlite/atomic-restore.ts';
import { pathsIn } from '../db/sqlite/data-folder.ts';
import { requireInstance } from '../db/sqlite/find-instance.ts';
import { openReadOnlyDatabase } from '../db/sqlite/read-only.ts';
import { openData } from '../dependencies.ts';
import { subjectInList } from '../modules/outbox/service.ts';
import { recordAudit } from '../store/audit.ts';
import { findMail, listMails, type Mail } from '../store/mails.ts';
import { shortTime, table } from './table.ts';
import { jsonText, printable, printableLines } from './sanitize.ts';

export interface MailListOptions {
  readonly to: string | undefined;
  readonly limit: number;
  readonly isJson: boolean;
}

/** Place of the mails, as the configuration names it. */
type Place = Pick<Config, 'dataFolder' | 'database'>;

/** Returns the newest mails first, without codes. Changes nothing. @throws {StartupError} */
export async function mailList(place: Place, { to, limit, isJson }: MailListOptions): Promise<string> {
  const mails = await withReader(place, (reader) => listMails(reader, { recipient: to, limit }));
  if (isJson) return `${jsonText(mails.map(mailSummary), 2)}\n`;
  if (mails.length > 0) return tableOf(mails);
  return to === undefined ? 'No mail yet.\n' : `No mail to ${to} yet.\n`;
}

/** Returns one mail with its text. Writes the audit record before returning it. @throws {StartupError} */
export async function mailText(
  place: Place,
  id: string,
  isJson: boolean,
): Promise<{ readonly text: string; readonly isOnRecord: boolean }> {
  const data = await openData(place.database ?? place.dataFolder, { isServer: false });
  try {
    const mail = await findMail(data.db.reader, id);
    if (!mail) throw new StartupError(`There is no mail ${printable(id)}; "gatehouse outbox list" lists all.`);
    const isReadable = mail.text !== null;
    if (isReadable)
      await data.db.write(SYSTEM_ACTOR, (unit) =>
        recordAudit(unit, {
          kind: 'mail.read',
          applicationId: mail.applicationId,
          workspaceId: mail.workspaceId,
          email: mail.recipient,
          targetId: mail.id,
        }),
      );
    if (!isJson) return { text: mailAsText(mail), isOnRecord: isReadable };
    const { text, html, code } = mail;
    const letter = { ...mailSummary(mail), subject: isReadable ? mail.subject : null, text, html, code };
    return { text: `${jsonText(letter, 2)}\n`, isOnRecord: isReadable };
  } finally {
    await data.close();
  }
}

async function withReader<Result>(
  { database: postgres, dataFolder }: Place,
  read: (reader: Reader) => Promise<Result>,
): Promise<Result> {
  if (postgres !== null) {
    const data = await openData(postgres, { isServer: false });
    return read(data.db.reader).finally(() => data.close());
  }
  const folder = pathsIn(dataFolder);
  requireNoRestore(folder.path);
  requireInstance(folder);
  const database = openReadOnlyDatabase(folder.databasePath);
  try {
    return await read(database.reader);
  } finally {
    database.close();
  }
}

function mailSummary(mail: Mail) {
  const { id, recipient: to, status, attempts, lastError, applicationId, createdAt, sentAt } = mail;
  const subject = mail.subject === '' ? null : subjectInList(mail);
  const times = { createdAt: isoTime(createdAt), sentAt: isoTime(sentAt) };
  return { id, to, subject, status, attempts, lastError, applicationId, ...times };
}

/** Formats a table with times in this machine's time zone. */
function tableOf(mails: readonly Mail[]): string {
  const isTerminal = process.stdout.isTTY === true;
  const now = Date.now();
  return table<Mail>(
    [
      { title: 'ID', of: ({ id }) => id },
      { title: 'WHEN', of: ({ createdAt }) => shortTime(isoTime(createdAt), now) },
      { title: 'STATE', of: ({ status }) => status },
      { title: 'TO', of: ({ recipient }) => recipient, isCut: true },
      { title: 'SUBJECT', of: (mail) => subjectInList(mail), isCut: true },
    ],
    mails,
    { columns: isTerminal ? process.stdout.columns || 80 : null },
  );
}

function mailAsText(mail: Mail): string {
  const { recipient, subject, text, status, createdAt, sentAt, lastError } = mail;
  const head = [
    `To:       ${printable(recipient)}`,
    ...(subject === '' ? [] : [`Subject:  ${printable(subject)}`]),
    `Queued:   ${isoTime(createdAt)}`,
    `State:    ${status}${sentAt === null ? '' : ` at ${isoTime(sentAt)}`}${lastError === null ? '' : ` (${printable(lastError)})`}`,
  ];
  const body = text === null ? (WITHOUT_TEXT[status] ?? WITHOUT_TEXT.gone) : printableLines(text);
  return `${head.join('\n')}\n\n${body.trimEnd()}\n`;
}

const WITHOUT_TEXT: Readonly<Record<string, string>> & { readonly gone: string } = {
  sent: 'A mail server accepted it; its text is not kept here.',
  failed: 'Sending it failed for good; its text is not kept.',
  gone: 'Its text is not kept.',
};
