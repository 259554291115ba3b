/** The layout of every mail: HTML for mail clients, and plain text with the same content. */
import { renderToString } from 'preact-render-to-string';
import type { Texts } from '../i18n/texts.ts';
import { LetterDocument } from './letter-document.tsx';

/** The sender shown at the top of a letter. */
export interface Sender {
  readonly name: string;
  readonly logoUrl: string | null;
  readonly accentColor: string | null;
}

/** Sender of mails without an application, in the text color. */
export const PRODUCT: Sender = { name: 'Gatehouse', logoUrl: null, accentColor: '#15181e' };

export interface LetterList {
  readonly title: string;
  readonly items: readonly string[];
}

/** Content of a mail, in plain text. */
export interface Letter {
  /** Texts of the letter's language. */
  readonly text: Texts;
  readonly sender: Sender;
  readonly subject: string;
  readonly heading: string;
  /** Paragraphs and lists before the code or link. */
  readonly lead: readonly (string | LetterList)[];
  /** The action: a code to enter, or a link to follow. */
  readonly code?: string;
  readonly link?: { readonly label: string; readonly url: string };
  /** Validity of the code or link. */
  readonly note?: string;
  /** Why the reader gets the mail, and what to do if it was not them. */
  readonly small: readonly string[];
  /** Machine-readable last line of the text part, such as `@host #code`; not in the HTML part. */
  readonly signature?: string;
}

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
