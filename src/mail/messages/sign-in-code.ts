/** The mail that carries a sign-in code: readable at a glance, autofillable, plain text and HTML. */
import type { Locale } from '../../core/locale.ts';
import { catalogueFor, format } from '../../i18n/catalogue.ts';
import { html } from '../../core/html.ts';

export interface SignInCodeMail {
  readonly locale: Locale;
  readonly applicationName: string;
  readonly code: string;
  readonly lifetimeMinutes: number;
  /** Host of the page the code is typed into. */
  readonly host: string;
}

export interface MailContent {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/**
 * The last line of the text part is `@host #code`, which lets a browser offer the code on that host only
 * (https://wicg.github.io/sms-one-time-codes/).
 */
export function signInCodeMail({ locale, applicationName, code, lifetimeMinutes, host }: SignInCodeMail): MailContent {
  const { email } = catalogueFor(locale);
  const app = applicationName.replace(/\s+/g, ' ');
  const subject = format(email.subject, { code, app });
  const heading = format(email.heading, { app });
  const expiry = format(email.expiry, { minutes: lifetimeMinutes });
  return {
    subject,
    text: [heading, '', email.intro, '', code, '', expiry, email.ignore, '', `@${host} #${code}`].join('\n'),
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
            <p style="font-size:15px;line-height:1.5;margin:0 0 16px">${email.intro}</p>
            <p
              style="font-family:ui-monospace,Menlo,Consolas,monospace;font-size:32px;font-weight:700;letter-spacing:6px;margin:0 0 24px"
            >
              ${code}
            </p>
            <p style="font-size:13px;line-height:1.5;margin:0;opacity:0.7">${expiry} ${email.ignore}</p>
          </div>
        </body>
      </html>`.toString(),
  };
}
