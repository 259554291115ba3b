/** What every mail looks like: one letter, as HTML that mail clients can show and as plain text of the same content. */
import { renderToString } from 'preact-render-to-string';
import type { Texts } from '../i18n/texts.ts';
import { LetterDocument } from './letter-document.tsx';

/** Whose letter it is, at its top. */
export interface Sender {
  readonly name: string;
  readonly logoUrl: string | null;
  readonly accentColor: string | null;
}

/** The sender of mails of no application, in the colour of the text. */
export const PRODUCT: Sender = { name: 'Gatehouse', logoUrl: null, accentColor: '#15181e' };

/** Points under a title. */
export interface LetterList {
  readonly title: string;
  readonly items: readonly string[];
}

/** What a mail says, in plain text. */
export interface Letter {
  /** The words that it is written with, for the language that it says it is in. */
  readonly text: Texts;
  readonly sender: Sender;
  readonly subject: string;
  readonly heading: string;
  /** Before what there is to do. */
  readonly lead: readonly (string | LetterList)[];
  /** What there is to do: a code to enter, or a link to follow. */
  readonly code?: string;
  readonly link?: { readonly label: string; readonly url: string };
  /** What holds of the code or the link. */
  readonly note?: string;
  /** Why the reader gets it, and what to do if it was not them. */
  readonly small: readonly string[];
  /** The last line of the text part, such as `@host #code`: for programs, so that the HTML part goes without. */
  readonly signature?: string;
}

/** A mail without its sender and recipient. */
export interface MailContent {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** A day as the reader writes it, by UTC. */
export function dayIn(locale: string, at: number): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(at);
}

/** Escapes every value in the HTML part. A subject is one line, and so is each paragraph of the text part. */
export function letterMail(letter: Letter): MailContent {
  const subject = oneLine(letter.subject);
  return {
    subject,
    text: plainText(letter),
    html: `<!doctype html>\n${renderToString(<LetterDocument {...letter} subject={subject} />)}\n`,
  };
}

/** Line ends, controls and halves of letters become blanks. */
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
