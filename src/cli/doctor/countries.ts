/** Countries of clients: from a proxy's header, or from the table inside the binary and how old that is. */
import { DAY } from '../../core/clock.ts';
import { COUNTRY_DATA_AT, COUNTRY_DATA_DAY } from '../../core/country-data.ts';
import { SETTINGS } from '../../settings.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { Scene } from './scene.ts';

/** Ranges change hands all the time; after a year the table is no longer to be relied on. */
const OLD_MS = 365 * DAY;

export function countryFindings({ given, now }: Scene): Finding[] {
  const { ok, warn } = findingsOf('countries');
  const header = given(SETTINGS.countryHeader.env);
  if (header !== null) return [ok(`Trusted proxies give them in ${header}.`)];
  const table = `They come from the table inside the binary, of ${COUNTRY_DATA_DAY} (NRO, CC BY 4.0)`;
  if (now() - COUNTRY_DATA_AT < OLD_MS) return [ok(`${table}.`)];
  return [
    warn(
      `${table}: more than a year old, so some are wrong.`,
      `Upgrade Gatehouse, or let a trusted proxy give them (${SETTINGS.countryHeader.env}).`,
    ),
  ];
}
