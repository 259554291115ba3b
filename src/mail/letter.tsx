/** The layout of every mail: HTML for mail clients, and plain text with the same content. */
import { renderToString } from 'preact-render-to-string';
import { LetterDocument } from './letter-document.tsx';
import type { Letter, LetterList, Sender } from './letter-parts.ts';

export type { Letter, LetterList, Sender } from './letter-parts.ts';

/** Sender of mails without an application, in the text color. */
export const PRODUCT: Sender = { name: 'Gatehouse', logoUrl: null, accentColor: '#15181e' };

export interface MailContent {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
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
    html: `<!doctype html>\n${renderToString(<LetterDocument {...letter} subject={subject} />)}\n`,
  };
}

/** Replaces line breaks, control characters and lone surrogates with spaces. */
function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

function plainText({ sender, heading, lead, code, link, note, small, signature }: Letter): string {
  const lines = (part: string | LetterList) =>
    typeof part === 'string' ? [part] : [part.title, ...part.items.map((item) => `- ${item}`)];
  const paragraphs = [[sender.name], [heading], ...lead.map(lines)];
  if (code !== undefined) paragraphs.push([code]);
  if (link) paragraphs.push([link.label, link.url]);
  for (const paragraph of [note, ...small, signature]) if (paragraph !== undefined) paragraphs.push([paragraph]);
  return paragraphs.map((paragraph) => paragraph.map(oneLine).join('\n')).join('\n\n');
}
