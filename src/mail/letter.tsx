/** The layout of every mail: HTML for mail clients, and plain text with the same content. */
import { renderToString } from 'preact-render-to-string';
import { CONSOLE_CLIENT_ID } from '../core/console.ts';
import { LetterDocument } from './letter-document.tsx';
import { helpOf } from './letter-help.ts';
import { oneLine } from './one-line.ts';
import { attributed, type Letter, type LetterList, type Sender } from './letter-parts.ts';
import { type MailSender, senderOf } from './sender.ts';

export type { Letter, LetterList, Sender } from './letter-parts.ts';

/** Sender of mails without an application, in the text color. */
export const PRODUCT: Sender = {
  name: 'Gatehouse',
  workspaceId: null,
  clientId: CONSOLE_CLIENT_ID,
  supportEmail: null,
  support: null,
  logoUrl: null,
  logoDarkUrl: null,
  accentColor: '#15181e',
};

export interface MailContent {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly from: MailSender | null;
}

/** Formats the UTC day in the reader's locale. */
export function dayIn(locale: string, at: number): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(at);
}

/** Renders a letter. Escapes every value in the HTML; subject and text paragraphs are one line each. */
export function letterMail(letter: Letter): MailContent {
  const subject = oneLine(letter.subject);
  return {
    subject,
    text: plainText(letter),
    from: senderOf(letter.sender),
    html: `<!doctype html>\n${renderToString(<LetterDocument {...letter} subject={subject} />)}\n`,
  };
}

function plainText(letter: Letter): string {
  const { sender, heading, lead, code, note, asked, facts = [], link, line, small, signature } = letter;
  const help = helpOf(letter);
  const lines = (part: string | LetterList) =>
    typeof part === 'string' ? [part] : [part.title, ...part.items.map((item) => `- ${item}`)];
  const paragraphs = [[sender.name], [heading], ...lead.map(lines)];
  if (code !== undefined) paragraphs.push([code]);
  for (const paragraph of [note, asked]) if (paragraph !== undefined) paragraphs.push([paragraph]);
  if (facts.length > 0) paragraphs.push([...facts]);
  if (link) paragraphs.push([link.label, link.url]);
  if (line) paragraphs.push([attributed(sender, line)]);
  for (const paragraph of small) paragraphs.push([paragraph]);
  if (help) paragraphs.push([help.label, help.shown]);
  if (signature !== undefined) paragraphs.push([signature]);
  return paragraphs.map((paragraph) => paragraph.map(oneLine).join('\n')).join('\n\n');
}
