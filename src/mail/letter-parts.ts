import type { Texts } from '../i18n/texts.ts';

export interface Sender {
  readonly name: string;
  /** Null for the server itself and its console, whose mails have the configured sender. */
  readonly workspaceId: string | null;
  readonly clientId: string;
  /** Answers go there; null for none. */
  readonly supportEmail: string | null;
  /** An https, http or mailto URL where people get help; null for none. */
  readonly support: string | null;
  /** An https URL; null for none. */
  readonly logoUrl: string | null;
  /** Shown in dark mode; null where it is the same. */
  readonly logoDarkUrl: string | null;
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
  /** Lines on when, where and with what it happened. */
  readonly facts?: readonly string[];
  /** The action: a code to enter, or a link to follow. */
  readonly code?: string;
  readonly link?: { readonly label: string; readonly url: string };
  /** Validity of the code or link. */
  readonly note?: string;
  /** Line on who asked for the code. */
  readonly asked?: string;
  /** The application's own line, above the foot. */
  readonly line?: string | null;
  /** Why the reader gets the mail, and what to do if it was not them. */
  readonly small: readonly string[];
  /** True if the last line of the foot tells the reader to ask for help, so that the application's support follows. */
  readonly isHelpNamed?: boolean;
  /** Machine-readable last line of the text part, such as `@host #code`; not in the HTML part. */
  readonly signature?: string;
}

/** Says whose words an application's own line is: the reader trusts the others, which this server wrote. */
export function attributed({ name }: Pick<Sender, 'name'>, line: string): string {
  return `${name}: ${line}`;
}
