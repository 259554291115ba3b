/** Mails that say something in a few sentences, with an optional code shown large: plain text and HTML from one source. */
import { html } from '../../core/html.ts';
import type { Locale } from '../../core/locale.ts';

/** What a mail says, in plain text. */
export interface Notice {
  readonly locale: Locale;
  readonly subject: string;
  readonly heading: string;
  /** Sentences before and after the code. */
  readonly before: readonly string[];
  readonly code?: string;
  readonly after?: readonly string[];
  /** The last line of the text part, such as `@host #code`. */
  readonly signature?: string;
}

/** A mail without its sender and recipient. */
export interface MailContent {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Escapes every value in the HTML part; a subject is always one line. */
export function noticeMail({ locale, subject, heading, before, code, after = [], signature }: Notice): MailContent {
  const paragraphs = [heading, before.join('\n'), code, after.join('\n'), signature].filter(Boolean);
  return {
    subject: subject.replace(/[\s\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' '),
    text: paragraphs.join('\n\n'),
    html: html`<!doctype html>
      <html lang="${locale}">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width" />
          <meta name="color-scheme" content="light dark" />
          <title>${subject}</title>
        </head>
        <body style="margin:0;padding:32px 16px;font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif">
          <div style="max-width:420px;margin:0 auto">
            <h1 style="font-size:20px;font-weight:600;margin:0 0 16px">${heading}</h1>
            ${before.map((sentence) => html`<p style="font-size:15px;line-height:1.5;margin:0 0 16px">${sentence}</p>`)}
            ${
              code === undefined
                ? ''
                : html`<p
                    style="font-family:ui-monospace,Menlo,Consolas,monospace;font-size:32px;font-weight:700;letter-spacing:6px;margin:0 0 24px"
                  >
                    ${code}
                  </p>`
            }
            <p style="font-size:13px;line-height:1.5;margin:0;opacity:0.7">${after.join(' ')}</p>
          </div>
        </body>
      </html>`.toString(),
  };
}
