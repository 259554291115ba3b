/** The HTML part of a letter: a card of at most 600 px that is readable without the style sheet. */
import type { Texts } from '../i18n/texts.ts';
import type { Letter, LetterList, Sender } from './letter-parts.ts';
import { lookOf, STYLES } from './letter-style.ts';

/** Keeps mail clients from filling the preview with text after the preheader. */
const PREVIEW_END = '\u200c\u00a0'.repeat(60);

/** Table attributes: some clients keep widths and colors only in tables. */
const TABLE: { readonly role: 'presentation' } = Object.freeze({
  role: 'presentation',
  cellSpacing: 0,
  cellPadding: 0,
  border: 0,
});

export function LetterDocument(letter: Letter) {
  const { text, sender, subject, heading, lead, code, link, note, small } = letter;
  const look = lookOf(sender.accentColor);
  return (
    <html lang={text.locale}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <meta name="format-detection" content="telephone=no, date=no, address=no, email=no" />
        <title>{subject}</title>
        <style dangerouslySetInnerHTML={{ __html: look.sheet }} />
      </head>
      <body class="page" style={STYLES.body}>
        <div style={STYLES.preheader}>{preheader(letter) + PREVIEW_END}</div>
        <table {...TABLE} width="100%" class="page" style={STYLES.page}>
          <tr>
            <td class="outside" align="center" style={STYLES.outside}>
              <table {...TABLE} width="600" class="card" style={STYLES.card}>
                <tr>
                  <td class="accent" style={look.styles.edge}>
                    {'\u00a0'}
                  </td>
                </tr>
                <tr>
                  <td class="inside text" style={STYLES.inside}>
                    <Head sender={sender} />
                    <h1 class="text" style={STYLES.heading}>
                      {heading}
                    </h1>
                    {lead.map((part) => (
                      <Lead part={part} />
                    ))}
                    {code !== undefined && (
                      <div class="code" style={STYLES.code}>
                        {code}
                      </div>
                    )}
                    {link && <Button {...link} text={text} sender={sender} />}
                    {note !== undefined && (
                      <p class="muted" style={STYLES.note}>
                        {note}
                      </p>
                    )}
                    <Small of={small} />
                  </td>
                </tr>
              </table>
            </td>
          </tr>
        </table>
      </body>
    </html>
  );
}

/** Returns the preview text, which adds to the subject: with a code how long it works, else what happened. */
function preheader({ code, note, lead, heading }: Letter): string {
  const [first] = lead.filter((part) => typeof part === 'string');
  return (code === undefined ? first : (note ?? first)) ?? heading;
}

/** Shows logo and name. The name stays visible where pictures are blocked, so the logo needs no alt text. */
function Head({ sender: { name, logoUrl, accentColor } }: { sender: Sender }) {
  const [initial = ''] = name.trim().toUpperCase();
  return (
    <table {...TABLE}>
      <tr>
        <td style={STYLES.mark}>
          {logoUrl?.startsWith('https://') ? (
            <img src={logoUrl} alt="" height={36} style={STYLES.logo} />
          ) : (
            <div class="accent" aria-hidden="true" style={lookOf(accentColor).styles.tile}>
              {initial}
            </div>
          )}
        </td>
        <td class="text" style={STYLES.name}>
          {name}
        </td>
      </tr>
    </table>
  );
}

function Lead({ part }: { part: string | LetterList }) {
  if (typeof part === 'string')
    return (
      <p class="text" style={STYLES.paragraph}>
        {part}
      </p>
    );
  return (
    <>
      <p class="text" style={STYLES.title}>
        {part.title}
      </p>
      <ul class="text" style={STYLES.list}>
        {part.items.map((item) => (
          <li style={STYLES.item}>{item}</li>
        ))}
      </ul>
    </>
  );
}

function Button({ label, url, text, sender }: { label: string; url: string; text: Texts; sender: Sender }) {
  const { buttonCell, buttonLink } = lookOf(sender.accentColor).styles;
  return (
    <>
      <table {...TABLE} style={STYLES.button}>
        <tr>
          <td class="accent" style={buttonCell}>
            <a class="ink" href={url} style={buttonLink}>
              {label}
            </a>
          </td>
        </tr>
      </table>
      <p class="muted" style={STYLES.beneath}>
        {text('email.linkBelow')}
        <br />
        <a class="muted" href={url} style={STYLES.address}>
          {url}
        </a>
      </p>
    </>
  );
}

function Small({ of: paragraphs }: { of: readonly string[] }) {
  return (
    <table {...TABLE} width="100%">
      <tr>
        <td style={STYLES.rule}>{'\u00a0'}</td>
      </tr>
      <tr>
        <td class="line" style={STYLES.foot}>
          {paragraphs.map((paragraph) => (
            <p class="muted" style={STYLES.small}>
              {paragraph}
            </p>
          ))}
        </td>
      </tr>
    </table>
  );
}
