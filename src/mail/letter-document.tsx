/** The HTML part of a letter: a card of at most 600 px that is readable without the style sheet. */
import { hyphenated } from '../core/hyphenated.ts';
import type { Texts } from '../i18n/texts.ts';
import { LetterHead } from './letter-head.tsx';
import { type Help, helpOf } from './letter-help.ts';
import { attributed, type Letter, type LetterList, type Sender } from './letter-parts.ts';
import { lookOf, STYLES, TABLE } from './letter-style.ts';

/** Keeps mail clients from filling the preview with text after the preheader. */
const PREVIEW_END = '\u200c\u00a0'.repeat(60);

export function LetterDocument(letter: Letter) {
  const { text, sender, subject, heading, lead, code, note, asked, facts = [], link, line, small } = letter;
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
                    <LetterHead {...sender} />
                    <h1 class="text" style={STYLES.heading}>
                      {hyphenated(heading)}
                    </h1>
                    {lead.map((part) => (
                      <Lead part={part} />
                    ))}
                    {code !== undefined && (
                      <div class="code" style={STYLES.code}>
                        {code}
                      </div>
                    )}
                    {[note, asked].map(
                      (line) =>
                        line !== undefined && (
                          <p class="muted" style={STYLES.note}>
                            {line}
                          </p>
                        ),
                    )}
                    {facts.length > 0 && <Facts of={facts} />}
                    {link && <Button {...link} text={text} sender={sender} />}
                    {line && (
                      <p class="text" style={STYLES.line} dir="auto">
                        {hyphenated(attributed(sender, line))}
                      </p>
                    )}
                    <Small of={small} help={helpOf(letter)} />
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

function Lead({ part }: { part: string | LetterList }) {
  if (typeof part === 'string')
    return (
      <p class="text" style={STYLES.paragraph}>
        {hyphenated(part)}
      </p>
    );
  return (
    <>
      <p class="text" style={STYLES.title}>
        {hyphenated(part.title)}
      </p>
      <ul class="text" style={STYLES.list}>
        {part.items.map((item) => (
          <li style={STYLES.item}>{hyphenated(item)}</li>
        ))}
      </ul>
    </>
  );
}

/** Shows when, where and with what, on a ground of their own. */
function Facts({ of: lines }: { of: readonly string[] }) {
  return (
    <table {...TABLE} width="100%" style={STYLES.facts}>
      <tr>
        <td class="soft" style={STYLES.factsCell}>
          {lines.map((line) => (
            <div class="text" style={STYLES.fact}>
              {hyphenated(line)}
            </div>
          ))}
        </td>
      </tr>
    </table>
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
              {hyphenated(label)}
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

function Small({ of: paragraphs, help }: { of: readonly string[]; help: Help | null }) {
  return (
    <table {...TABLE} width="100%">
      <tr>
        <td style={STYLES.rule}>{'\u00a0'}</td>
      </tr>
      <tr>
        <td class="line" style={STYLES.foot}>
          {paragraphs.map((paragraph) => (
            <p class="muted" style={STYLES.small}>
              {hyphenated(paragraph)}
            </p>
          ))}
          {help && (
            <p class="muted" style={STYLES.small}>
              {hyphenated(help.label)}
              <br />
              <a class="muted" href={help.url} style={STYLES.address}>
                {help.shown}
              </a>
            </p>
          )}
        </td>
      </tr>
    </table>
  );
}
