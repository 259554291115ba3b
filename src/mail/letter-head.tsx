/** The head of a letter: the application's logo, in dark mode its own, and its name. */
import { hyphenated } from '../core/hyphenated.ts';
import type { Sender } from './letter-parts.ts';
import { lookOf, STYLES, TABLE } from './letter-style.ts';

type Shown = Pick<Sender, 'name' | 'logoUrl' | 'logoDarkUrl' | 'accentColor'>;

/** The name stays visible where pictures are blocked, so the logo needs no alt text. */
export function LetterHead(sender: Shown) {
  return (
    <table {...TABLE}>
      <tr>
        <td style={STYLES.mark}>
          <Mark {...sender} />
        </td>
        <td class="text" style={STYLES.name}>
          {hyphenated(sender.name)}
        </td>
      </tr>
    </table>
  );
}

/** Two images, since mail clients drop `picture`. Clients without the dark scheme, or without style sheets, show the first. */
function Mark({ name, logoUrl, logoDarkUrl, accentColor }: Shown) {
  const [initial = ''] = name.trim().toUpperCase();
  if (logoUrl === null)
    return (
      <div class="accent" aria-hidden="true" style={lookOf(accentColor).styles.tile}>
        {initial}
      </div>
    );
  if (logoDarkUrl === null || logoDarkUrl === logoUrl)
    return <img src={logoUrl} alt="" height={36} style={STYLES.logo} />;
  return (
    <>
      <img class="on-light" src={logoUrl} alt="" height={36} style={STYLES.logo} />
      <div class="on-dark" style={STYLES.onDark}>
        <img src={logoDarkUrl} alt="" height={36} style={STYLES.logo} />
      </div>
    </>
  );
}
