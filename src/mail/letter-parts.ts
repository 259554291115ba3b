import type { Texts } from '../i18n/texts.ts';

export interface Sender {
  readonly name: string;
  readonly logoUrl: string | null;
  readonly accentColor: string | null;
}

export interface LetterList {
  readonly title: string;
  readonly items: readonly string[];
}

/** Content of a mail, in plain text. */
export interface Letter {
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
